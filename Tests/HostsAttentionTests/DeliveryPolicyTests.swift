import HostsModel
import Testing

@testable import HostsAttention

@Suite struct DeliveryPolicyTests {
    typealias Step = DeliveryPolicy.Step

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let result: HookResult
        let attempts: Int
        let failures: Int
        var age = Duration.zero
        var jitter = 0.0
        let step: Step
    }

    @Test(arguments: [
        Case(testDescription: "delivered", result: .delivered, attempts: 1, failures: 0, step: .delivered),
        Case(
            testDescription: "first retry", result: .retryLater, attempts: 1, failures: 0,
            step: .retry(after: .seconds(5))),
        Case(
            testDescription: "second", result: .retryLater, attempts: 2, failures: 0,
            step: .retry(after: .seconds(30))),
        Case(
            testDescription: "third", result: .retryLater, attempts: 3, failures: 0,
            step: .retry(after: .seconds(120))),
        Case(
            testDescription: "fourth", result: .retryLater, attempts: 4, failures: 0,
            step: .retry(after: .seconds(600))),
        Case(
            testDescription: "fifth", result: .retryLater, attempts: 5, failures: 0,
            step: .retry(after: .seconds(3600))),
        Case(
            testDescription: "the last wait repeats", result: .retryLater, attempts: 20, failures: 0,
            step: .retry(after: .seconds(3600))),
        Case(
            testDescription: "jitter only adds", result: .retryLater, attempts: 5, failures: 0, jitter: 0.5,
            step: .retry(after: .seconds(3960))),
        Case(
            testDescription: "failures do not lengthen the waits of retries", result: .retryLater,
            attempts: 3, failures: 2, step: .retry(after: .seconds(5))),
        Case(
            testDescription: "first failure", result: .failed("x"), attempts: 1, failures: 1,
            step: .retry(after: .seconds(5))),
        Case(
            testDescription: "second failure", result: .failed("x"), attempts: 2, failures: 2,
            step: .retry(after: .seconds(30))),
        Case(testDescription: "third failure", result: .failed("x"), attempts: 3, failures: 3, step: .fail),
        Case(
            testDescription: "retries in between do not count as failures", result: .failed("x"), attempts: 9,
            failures: 1, step: .retry(after: .seconds(5))),
        Case(
            testDescription: "misconfigured", result: .misconfigured, attempts: 1, failures: 0,
            step: .disableHook),
        Case(
            testDescription: "no retry that would come too late", result: .retryLater, attempts: 9,
            failures: 0, age: .seconds(23 * 3600), step: .die),
        Case(
            testDescription: "delivered late is delivered", result: .delivered, attempts: 9, failures: 0,
            age: .seconds(25 * 3600), step: .delivered),
    ])
    func step(_ c: Case) throws {
        let created = WallTime(milliseconds: 1_000_000)
        let delivery = Delivery(
            id: Delivery.ID(event: EventIDSource.first, hook: "a"), lane: "devbox", created: created,
            attempts: c.attempts, failures: c.failures)
        let step = DeliveryPolicy.step(
            after: c.result, delivery, now: created.advanced(by: c.age), jitter: c.jitter)
        #expect(step == c.step)
    }
}
