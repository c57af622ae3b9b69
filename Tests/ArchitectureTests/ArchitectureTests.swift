import FoundationEssentials
import Testing

@Suite struct ArchitectureTests {
    private let check = ImportCheck(rows: ImportRow.all)

    /// `Sources`, found from where this file was compiled.
    private static let sources: String = {
        let parts = #filePath.split(separator: "/")
        return "/" + parts.dropLast(3).joined(separator: "/") + "/Sources"
    }()

    @Test func `every source keeps to the table of imports`() throws {
        var count = 0
        for path in try FileManager.default.subpathsOfDirectory(atPath: Self.sources)
        where path.hasSuffix(".swift") {
            let data = try Data(contentsOf: URL(filePath: Self.sources + "/" + path))
            #expect(check.problems(in: String(decoding: data, as: UTF8.self), path: path) == [])
            count += 1
        }
        #expect(count > 50)
    }

    @Test func `every target has a row`() throws {
        let targets = Set(ImportRow.all.map(\.target))
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.sources)
        where !name.hasPrefix(".") {
            #expect(targets.contains(name), "Sources/\(name) has no row in the table of imports")
        }
    }

    @Test func `the table is in order: no circles, no doubles, a reason for each`() {
        #expect(check.tableProblems == [])
    }

    // The checker itself must be able to fail.

    private let small = ImportCheck(rows: [
        ImportRow("Low", system: ["Glibc"], conditions: ["Glibc": "HOSTS_TSAN"], because: "low"),
        ImportRow("High", ["Low"], system: ["Glibc"], because: "high"),
    ])

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let problems: [String]
    }

    @Test(arguments: [
        Case(testDescription: "allowed", text: "import Glibc\npackage import Low\n", problems: []),
        Case(
            testDescription: "not allowed", text: "import Low\n@testable import Other\n",
            problems: ["High/a.swift:2: High must not import Other (high)"]),
        Case(
            testDescription: "a part of a module", text: "import struct Foundation.Data",
            problems: ["High/a.swift:1: High must not import Foundation (high)"]),
        Case(
            testDescription: "Foundation with an attribute",
            text: "\t@preconcurrency public import Foundation",
            problems: ["High/a.swift:1: High must not import Foundation (high)"]),
        Case(
            testDescription: "text and comments are no code",
            text: "let s = \"\"\"\n    import json\n    \"\"\"\n// import A\n/* x\nimport B\n*/\nimport Low",
            problems: []),
        Case(
            testDescription: "code after text is code", text: "let s = \"\"\"\n\"\"\"\nimport A",
            problems: ["High/a.swift:3: High must not import A (high)"]),
        Case(testDescription: "words that only begin so", text: "importer()\nlet import_ = 1", problems: []),
    ])
    func `imports are found and judged`(_ c: Case) {
        #expect(small.problems(in: c.text, path: "High/a.swift") == c.problems)
    }

    @Test func `a module may be allowed under a condition only`() {
        let good = "#if HOSTS_TSAN\nimport Glibc\n#else\nlet x = 1\n#endif"
        #expect(small.problems(in: good, path: "Low/a.swift") == [])
        for bad in [
            "import Glibc", "#if HOSTS_TSAN\n#else\nimport Glibc\n#endif",
            "#if HOSTS_TSAN\n#endif\nimport Glibc",
        ] {
            #expect(small.problems(in: bad, path: "Low/a.swift").count == 1)
        }
    }

    @Test func `a folder without a row, a circle and a double are problems`() {
        #expect(
            small.problems(in: "", path: "New/a.swift") == [
                "New/a.swift: the target New has no row in the table of imports"
            ])
        let broken = ImportCheck(rows: [
            ImportRow("A", ["B"], because: "a"), ImportRow("B", ["A"], because: ""),
            ImportRow("A", because: "a"),
        ])
        #expect(
            broken.tableProblems == [
                "A: B does not stand above it, so imports could go in circles", "B: a row needs its reason",
                "A: two rows",
            ])
    }
}
