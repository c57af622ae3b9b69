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

let cStrict: [CSetting] = [
    .enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error),
]
let cxxStrict: [CXXSetting] = [.enableWarning("all"), .treatAllWarnings(as: .error)]

let package = Package(
    name: "hostsd",
    products: [
        .library(name: "HostsPolicy", targets: ["HostsPolicy"]),
        .executable(name: "hostsd", targets: ["hostsd"]),
        .executable(name: "hostsctl", targets: ["hostsctl"]),
    ],
    targets: [
        // C and C++: what Swift cannot import, or should not know.
        .target(name: "CCurl", cSettings: cStrict, linkerSettings: [.linkedLibrary("curl")]),
        .target(name: "CLinux", cSettings: cStrict),
        .target(
            name: "CMicroHTTPD", cSettings: cStrict, linkerSettings: [.linkedLibrary("microhttpd")]),
        .target(name: "CPCRE2", cSettings: cStrict, linkerSettings: [.linkedLibrary("pcre2-8")]),
        .target(name: "CSQLite", cSettings: cStrict, linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(
            name: "CSSH", cSettings: cStrict,
            linkerSettings: [.linkedLibrary("ssh2"), .linkedLibrary("crypto"), .linkedLibrary("botan-2")]),
        .target(name: "CSystemd", cSettings: cStrict, linkerSettings: [.linkedLibrary("systemd")]),
        .target(name: "CTerminal", cSettings: cStrict),
        .target(
            name: "CTOML", cxxSettings: cxxStrict, linkerSettings: [.linkedLibrary("tomlplusplus")]),

        // Vocabulary.
        .target(name: "HostsModel", swiftSettings: strictMemory),
        .target(name: "HostsPOSIX", swiftSettings: strictMemory),
        .target(name: "HostsLog", dependencies: ["HostsModel"], swiftSettings: strict),

        // Pure decisions.
        .target(name: "HostsPolicy", dependencies: ["HostsModel"], swiftSettings: strictMemory),
        .target(
            name: "HostsDetection", dependencies: ["HostsModel", "CPCRE2"], swiftSettings: strictMemory),

        // Mechanism.
        .target(
            name: "HostsConfig", dependencies: ["HostsModel", "HostsPOSIX", "HostsDetection", "CTOML"],
            swiftSettings: strictMemory),
        .target(
            name: "HostsProcess", dependencies: ["HostsModel", "HostsPOSIX", "CLinux"], swiftSettings: strict),
        .target(
            name: "HostsSSH",
            dependencies: ["HostsModel", "HostsPOSIX", "HostsLog", "HostsProcess", "CSSH", "CLinux"],
            swiftSettings: strictMemory),
        .target(
            name: "HostsSystem",
            dependencies: ["HostsModel", "HostsPOSIX", "HostsPolicy", "HostsLog", "CLinux", "CSystemd"],
            swiftSettings: strictMemory),

        // Engines.
        .target(
            name: "HostsHub", dependencies: ["HostsModel", "HostsPolicy", "HostsLog"],
            swiftSettings: strictMemory),
        .target(
            name: "HostsAttention",
            dependencies: [
                "HostsModel", "HostsPOSIX", "HostsPolicy", "HostsLog", "HostsProcess", "CSQLite",
            ],
            swiftSettings: strict),

        // Interface.
        .target(name: "HostsAPI", dependencies: ["HostsModel", "CCurl"], swiftSettings: strict),
        .target(
            name: "HostsServer",
            dependencies: ["HostsAPI", "HostsModel", "HostsPOSIX", "HostsLog", "CLinux", "CMicroHTTPD"],
            swiftSettings: strict),
        .target(
            name: "HostsCommand",
            dependencies: [
                "HostsAPI", "HostsConfig", "HostsDetection", "HostsModel", "HostsPolicy", "CTerminal",
            ],
            swiftSettings: strict),

        // Composition.
        .target(
            name: "HostsDaemon",
            dependencies: [
                "HostsAPI", "HostsAttention", "HostsConfig", "HostsDetection", "HostsHub", "HostsLog",
                "HostsModel", "HostsPOSIX", "HostsPolicy", "HostsServer", "HostsSSH", "HostsSystem",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "hostsd", dependencies: ["HostsDaemon", "HostsSystem"], swiftSettings: strict),
        .executableTarget(
            name: "hostsctl",
            dependencies: [
                "HostsAPI", "HostsCommand", "HostsConfig", "HostsModel", "HostsPOSIX", "CTerminal",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "hostsd-demo", dependencies: ["HostsModel", "HostsSystem", "HostsTestSupport"],
            swiftSettings: strict),

        // What it costs; see `make bench`.
        .target(name: "BenchReport", path: "Benchmarks/Report", swiftSettings: strict),
        .executableTarget(
            name: "bench-links",
            dependencies: ["BenchReport", "HostsLog", "HostsModel", "HostsSSH", "HostsTestSupport"],
            path: "Benchmarks/Links", swiftSettings: strict),
        .executableTarget(
            name: "bench-detection",
            dependencies: [
                "BenchReport", "HostsConfig", "HostsDetection", "HostsModel", "HostsPOSIX",
                "HostsTestSupport",
            ],
            path: "Benchmarks/Detection", swiftSettings: strict),

        // Tests.
        .target(
            name: "HostsTestSupport", dependencies: ["HostsModel", "HostsPOSIX", "HostsProcess", "CLinux"],
            swiftSettings: strict),
        .testTarget(name: "ArchitectureTests", swiftSettings: strict),
        .testTarget(
            name: "HostsAPITests", dependencies: ["HostsAPI", "HostsModel"], swiftSettings: strict),
        .testTarget(
            name: "HostsAttentionTests",
            dependencies: [
                "HostsAttention", "HostsLog", "HostsModel", "HostsPolicy", "HostsTestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HostsCommandTests",
            dependencies: [
                "HostsCommand", "HostsAPI", "HostsLog", "HostsModel", "HostsPolicy", "HostsTestSupport",
            ],
            exclude: ["Golden"],
            swiftSettings: strict),
        .testTarget(
            name: "HostsConfigTests",
            dependencies: ["HostsConfig", "HostsLog", "HostsModel", "HostsTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HostsDaemonTests",
            dependencies: [
                "HostsDaemon", "HostsAPI", "HostsAttention", "HostsConfig", "HostsHub", "HostsLog",
                "HostsModel", "HostsPolicy", "HostsSSH", "HostsServer", "HostsSystem", "HostsTestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HostsDetectionTests",
            dependencies: [
                "HostsDetection", "HostsAttention", "HostsConfig", "HostsModel", "HostsPolicy",
                "HostsTestSupport",
            ],
            exclude: ["table.awk"], resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "HostsFaultTests",
            dependencies: [
                "HostsHub", "HostsLog", "HostsModel", "HostsPolicy", "HostsSSH", "HostsTestSupport",
            ],
            exclude: ["table.awk"],
            swiftSettings: strict),
        .testTarget(
            name: "HostsHubTests",
            dependencies: ["HostsHub", "HostsModel", "HostsPolicy", "HostsLog", "HostsTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HostsIntegrationTests",
            dependencies: ["HostsAPI", "HostsModel", "HostsProcess", "HostsTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HostsLogTests", dependencies: ["HostsLog", "HostsModel"], swiftSettings: strict),
        .testTarget(
            name: "HostsModelTests", dependencies: ["HostsModel", "HostsTestSupport"], swiftSettings: strict),
        .testTarget(name: "HostsPolicyTests", dependencies: ["HostsPolicy"], swiftSettings: strict),
        .testTarget(
            name: "HostsProcessTests", dependencies: ["HostsModel", "HostsProcess", "HostsTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HostsSSHTests",
            dependencies: [
                "HostsSSH", "HostsModel", "HostsPOSIX", "HostsLog", "HostsProcess", "HostsTestSupport",
                "CLinux", "CSSH",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HostsServerTests",
            dependencies: ["HostsServer", "HostsAPI", "HostsModel", "HostsLog", "HostsTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HostsSystemTests",
            dependencies: [
                "HostsSystem", "HostsLog", "HostsModel", "HostsPOSIX", "HostsPolicy", "HostsTestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HostsTestSupportTests", dependencies: ["HostsTestSupport", "HostsModel"],
            swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)

// Not for every build: libFuzzer brings the `main` of it. See `make fuzz`.
if Context.environment["HOSTS_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "fuzz-detection", dependencies: ["HostsConfig", "HostsDetection", "HostsModel"],
            path: "Tests/Fuzz", exclude: ["corpus"], swiftSettings: strict))
}
