// swift-tools-version: 6.2
import PackageDescription

/// What every Swift target is built with: language mode 6, warnings are errors, no implicit imports.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The same, and every unsafe use is marked: for the targets that must be right about memory.
let strictMemory: [SwiftSetting] = strict + [.strictMemorySafety()]

let cStrict: [CSetting] = [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)]
let cxxStrict: [CXXSetting] = [.enableWarning("all"), .treatAllWarnings(as: .error)]

let package = Package(
    name: "hostsd",
    products: [
        .library(name: "HostsPolicy", targets: ["HostsPolicy"])
    ],
    targets: [
        // C and C++: what Swift cannot import, or should not know.
        .target(name: "CLinux", cSettings: cStrict),
        .target(
            name: "CSSH", cSettings: cStrict,
            linkerSettings: [.linkedLibrary("ssh2"), .linkedLibrary("crypto")]),
        .target(
            name: "CTOML", cxxSettings: cxxStrict,
            linkerSettings: [.linkedLibrary("tomlplusplus")]),

        // Vocabulary.
        .target(name: "HostsModel", swiftSettings: strictMemory),
        .target(name: "HostsLog", dependencies: ["HostsModel"], swiftSettings: strict),

        // Pure decisions.
        .target(name: "HostsPolicy", dependencies: ["HostsModel"], swiftSettings: strictMemory),

        // Engines.
        .target(
            name: "HostsHub", dependencies: ["HostsModel", "HostsPolicy", "HostsLog"],
            swiftSettings: strictMemory),

        // Interface.
        .target(name: "HostsAPI", dependencies: ["HostsModel"], swiftSettings: strict),

        // Mechanism.
        .target(name: "HostsProcess", dependencies: ["HostsModel", "CLinux"], swiftSettings: strict),

        .target(
            name: "HostsSSH", dependencies: ["HostsModel", "HostsLog", "HostsProcess", "CSSH", "CLinux"],
            swiftSettings: strictMemory),

        // Tests.
        .target(
            name: "HostsTestSupport", dependencies: ["HostsModel", "HostsProcess", "CLinux"], swiftSettings: strict),
        .testTarget(
            name: "HostsTestSupportTests", dependencies: ["HostsTestSupport", "HostsModel"],
            swiftSettings: strict),

        // Mechanism.
        .target(name: "HostsConfig", dependencies: ["HostsModel", "CTOML"], swiftSettings: strictMemory),

        // Tests.
        .testTarget(
            name: "HostsConfigTests", dependencies: ["HostsConfig", "HostsLog", "HostsModel"],
            swiftSettings: strict),
        .testTarget(name: "HostsModelTests", dependencies: ["HostsModel"], swiftSettings: strict),
        .testTarget(name: "HostsAPITests", dependencies: ["HostsAPI", "HostsModel"], swiftSettings: strict),
        .testTarget(
            name: "HostsHubTests",
            dependencies: ["HostsHub", "HostsModel", "HostsPolicy", "HostsLog", "HostsTestSupport"],
            swiftSettings: strict),
        .testTarget(name: "HostsPolicyTests", dependencies: ["HostsPolicy"], swiftSettings: strict),
        .testTarget(
            name: "HostsProcessTests", dependencies: ["HostsModel", "HostsProcess"], swiftSettings: strict),
        .testTarget(
            name: "HostsSSHTests",
            dependencies: ["CSSH", "CLinux", "HostsLog", "HostsModel", "HostsProcess", "HostsSSH", "HostsTestSupport"],
            swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)
