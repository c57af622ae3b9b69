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
        .target(
            name: "CTOML", cxxSettings: cxxStrict,
            linkerSettings: [.linkedLibrary("tomlplusplus")]),
        .target(name: "CCurl", cSettings: cStrict, linkerSettings: [.linkedLibrary("curl")]),
        .target(name: "CTerminal", cSettings: cStrict),
        .target(
            name: "CMicroHTTPD", cSettings: cStrict,
            linkerSettings: [.linkedLibrary("microhttpd")]),

        // Vocabulary.
        .target(name: "HostsModel", swiftSettings: strictMemory),
        .target(name: "HostsLog", dependencies: ["HostsModel"], swiftSettings: strict),

        // Pure decisions.
        .target(name: "HostsPolicy", dependencies: ["HostsModel"], swiftSettings: strictMemory),

        // Interface.
        .target(name: "HostsAPI", dependencies: ["HostsModel", "CCurl"], swiftSettings: strict),
        .target(
            name: "HostsServer", dependencies: ["HostsAPI", "HostsModel", "HostsLog", "CMicroHTTPD"],
            swiftSettings: strict),
        .target(
            name: "HostsCommand", dependencies: ["HostsAPI", "HostsModel", "CTerminal"], swiftSettings: strict),

        // Composition.
        .executableTarget(
            name: "hostsctl", dependencies: ["HostsAPI", "HostsCommand", "HostsModel", "CTerminal"],
            swiftSettings: strict),

        // Tests.
        .testTarget(name: "HostsModelTests", dependencies: ["HostsModel"], swiftSettings: strict),
        .testTarget(name: "HostsAPITests", dependencies: ["HostsAPI", "HostsModel"], swiftSettings: strict),
        .testTarget(
            name: "HostsCommandTests",
            dependencies: ["HostsAPI", "HostsCommand", "HostsLog", "HostsModel", "hostsctl"],
            exclude: ["Golden"], swiftSettings: strict),
        .testTarget(
            name: "HostsLogTests", dependencies: ["HostsLog", "HostsModel"], swiftSettings: strict),
        .testTarget(
            name: "HostsServerTests", dependencies: ["HostsServer", "HostsAPI", "HostsModel", "HostsLog"],
            swiftSettings: strict),
        .testTarget(name: "HostsPolicyTests", dependencies: ["HostsPolicy"], swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)
