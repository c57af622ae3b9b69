import HostsAPI
import HostsConfig
import HostsHub
import HostsModel
import HostsServer

/// Records that are made, put aside and overridden through the API.
extension FleetService {
    func add(_ name: String, _ values: [String: RecordValueBody]) async throws(APIError) -> ActionDocument {
        var changes: [RecordChange] = []
        for edit in try Self.edits(values) {
            guard case .put(let change) = edit else {
                throw .badRequest("\(edit.key): null is no value for a new record; leave the key out")
            }
            changes.append(change)
        }
        let isLocal = changes.contains(.transport(.local))
        if values["ssh"] == nil, !isLocal { changes.insert(.destination(name), at: 0) }
        let addition: OverrideWriter.Addition
        do throws(OverrideError) {
            addition = try await overrides.add(name, changes)
        } catch {
            throw APIError(error)
        }
        await keeper.reload()
        var message = "\(addition.host) is added; written to \(addition.path)"
        if let local = addition.replaced {
            message +=
                "; \(local), this machine, was watched while there was no record: "
                + "hostsctl add \(local) --transport local keeps it"
        }
        return try await answer(about: addition.host, changed: true, message)
    }

    func remove(_ name: String) async throws(APIError) -> RemovalDocument {
        let host = try await host(named: name)
        let removal: OverrideWriter.Removal
        do throws(OverrideError) {
            removal = try await overrides.remove(host)
        } catch {
            throw APIError(error)
        }
        await keeper.reload(dismissing: ["\(host).toml", "\(host).override.toml"])
        let files = [removal.record, removal.override].compactMap(\.self).joined(separator: " and ")
        return RemovalDocument(
            host: host.rawValue, record: removal.record, override: removal.override,
            message: "\(host) is removed; kept, and not read any more: \(files)")
    }

    func set(_ name: String, _ values: [String: RecordValueBody]) async throws(APIError) -> ActionDocument {
        let edits = try Self.edits(values)
        guard !edits.isEmpty else { throw .badRequest("there is no key to set") }
        let host = try await host(named: name)
        let outcome: OverrideWriter.Outcome
        do throws(OverrideError) {
            outcome = try await overrides.edit(edits, of: host)
        } catch {
            throw APIError(error)
        }
        // The socket goes with the command, as with `disable`.
        if edits.contains(.put(.enabled(false))) { await hub.suspendModel(of: host) }
        await keeper.reload(isAlwaysPutInForce: true)
        switch outcome {
        case .written(let path):
            let words = edits.map { edit in
                switch edit {
                case .put(let change): change.line
                case .takeAway(let key): "\(key) as in the record"
                }
            }
            return try await answer(
                about: host, changed: true, "\(host): \(words.joined(separator: ", ")); written to \(path)")
        case .unchanged: return try await answer(about: host, changed: false, "\(host) is already so")
        }
    }

    private func answer(
        about host: HostID, changed: Bool, _ message: String
    ) async throws(APIError) -> ActionDocument {
        guard let snapshot = await hub.snapshot(of: host) else {
            // Somebody else has taken the file away again.
            throw .hostNotFound(host.rawValue, suggestion: nil)
        }
        return ActionDocument(
            host: HostView(snapshot, now: clock.now), changed: changed, message: message)
    }

    private func host(named name: String) async throws(APIError) -> HostID {
        if let host = HostID(rawValue: name), await hub.snapshot(of: host) != nil { return host }
        let names = await hub.snapshots().map(\.record.id.rawValue)
        throw .hostNotFound(
            SafeText.visible(name, limit: 80), suggestion: NearestName.suggestion(for: name, among: names))
    }

    /// The edits that a body asks for, in the order of the documented keys.
    private static func edits(_ values: [String: RecordValueBody]) throws(APIError) -> [RecordEdit] {
        var edits: [String: RecordEdit] = [:]
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            do throws(RecordValueError) {
                try RecordChange.checkKey(key)
                edits[key] =
                    switch value {
                    case .text(let text): .put(try RecordChange(key, .typed(text)))
                    case .flag(let flag): .put(try RecordChange(key, .flag(flag)))
                    case .words(let words): .put(try RecordChange(key, .words(words)))
                    case .null: .takeAway(key: key)
                    }
            } catch {
                throw .badRequest(error.message)
            }
        }
        return RecordChange.keys.compactMap { edits[$0] }
    }
}

extension APIError {
    /// Why the files of a host were left as they were.
    init(_ error: OverrideError) {
        let code = error.code
        let message = error.description
        switch error {
        case .badName, .badValue: self = .badRequest(message)
        case .noSuchHost(let host, _): self = .hostNotFound(host.rawValue, suggestion: nil)
        case .hostExists(let host, _):
            self = .conflict(code: code, message: message, help: "hostsctl set \(host) KEY=VALUE")
        case .tooManyHosts: self = .conflict(code: code, message: message, help: "hostsctl list")
        case .implicitHost(let host):
            self = .conflict(code: code, message: message, help: "hostsctl disable \(host)")
        case .overrideLeft, .tooManyAside: self = .conflict(code: code, message: message, help: nil)
        case .broken, .cannotEdit, .readOnly, .noFolder, .notPermitted, .notOwned, .diskFull, .locked,
            .failed:
            self = .failed(code: code, message: message, help: nil)
        }
    }
}
