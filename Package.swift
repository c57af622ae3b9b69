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
        .target(
            name: "CTOML", cxxSettings: cxxStrict,
            linkerSettings: [.linkedLibrary("tomlplusplus")]),
        .target(name: "CPCRE2", cSettings: cStrict, linkerSettings: [.linkedLibrary("pcre2-8")]),

        // Vocabulary.
        .target(name: "HostsModel", swiftSettings: strictMemory),
        .target(name: "HostsLog", dependencies: ["HostsModel"], swiftSettings: strict),

        // Pure decisions.
        .target(name: "HostsPolicy", dependencies: ["HostsModel"], swiftSettings: strictMemory),
        .target(
            name: "HostsDetection", dependencies: ["HostsModel", "CPCRE2"], swiftSettings: strictMemory),

        // Mechanism.
        .target(
            name: "HostsConfig", dependencies: ["HostsModel", "HostsDetection", "CTOML"],
            swiftSettings: strictMemory),

        // Tests.
        .testTarget(
            name: "HostsConfigTests", dependencies: ["HostsConfig", "HostsLog", "HostsModel"],
            swiftSettings: strict),
        .testTarget(
            name: "HostsDetectionTests", dependencies: ["HostsDetection", "HostsConfig", "HostsModel"],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(name: "HostsModelTests", dependencies: ["HostsModel"], swiftSettings: strict),
        .testTarget(name: "HostsPolicyTests", dependencies: ["HostsPolicy"], swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)
