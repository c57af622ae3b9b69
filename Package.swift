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
        .library(name: "HostsPolicy", targets: ["HostsPolicy"]),
    ],
    targets: [
        // C and C++: what Swift cannot import, or should not know.
        .target(name: "CLinux", cSettings: cStrict),
        .target(name: "CSQLite", cSettings: cStrict, linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(
            name: "CTOML", cxxSettings: cxxStrict,
            linkerSettings: [.linkedLibrary("tomlplusplus")]),

        // Vocabulary.
        .target(name: "HostsModel", swiftSettings: strictMemory),
        .target(name: "HostsLog", dependencies: ["HostsModel"], swiftSettings: strict),

        // Pure decisions.
        .target(name: "HostsPolicy", dependencies: ["HostsModel"], swiftSettings: strictMemory),

        // Mechanism.
        .target(name: "HostsProcess", dependencies: ["HostsModel", "CLinux"], swiftSettings: strict),

        // Engines.
        .target(
            name: "HostsAttention",
            dependencies: ["HostsModel", "HostsPolicy", "HostsLog", "HostsProcess", "CSQLite"],
            swiftSettings: strict),

        // Tests.
        .testTarget(
            name: "HostsAttentionTests",
            dependencies: ["HostsAttention", "HostsLog", "HostsModel", "HostsPolicy"], swiftSettings: strict),
        .testTarget(name: "HostsModelTests", dependencies: ["HostsModel"], swiftSettings: strict),
        .testTarget(name: "HostsPolicyTests", dependencies: ["HostsPolicy"], swiftSettings: strict),
        .testTarget(
            name: "HostsProcessTests", dependencies: ["HostsModel", "HostsProcess"], swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)
