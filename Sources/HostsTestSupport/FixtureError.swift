/// Why a fixture could not be set up; a test that meets one fails with its text.
package struct FixtureError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
