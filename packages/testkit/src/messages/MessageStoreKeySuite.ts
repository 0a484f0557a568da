/**
 * Conformance of `MessageStore`: what a known key means to *accept* and *lookUp*.
 */
import { assert } from "@effect/vitest"
import { Errors, MessageStore, type SendBinding } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { day, hour, minute, second, world } = Fixture
const { accept, claimed, describe, lookUp, settle } = MessageFixture

const count = (all: ReadonlyArray<string>, one: string) => all.filter((other) => other === one).length

/** Accepts the same send by racers with a message id and a claim token of their own. */
const race = (own: Fixture.World, racers: number, options: (n: number) => MessageFixture.SendOptions) =>
  Effect.forEach(Array.from({ length: racers }, (_, n) => n), (n) => accept(own, options(n)), {
    concurrency: "unbounded"
  })

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("of 100 racing requests with one key, exactly one is claimed, and the others find it running", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const key = yield* Fixture.word
      const results = yield* race(own, 100, () => ({ key }))
      const tags = results.map(({ accepted }) => accepted._tag)
      assert.deepStrictEqual([count(tags, "Claimed"), count(tags, "Running")], [1, 99])
      for (const { accepted, command } of results) {
        const kept = yield* messages.get(own.workspace.id, command.messageId)
        assert.strictEqual(Option.isSome(kept), accepted._tag === "Claimed")
      }
      // only the winner's token is valid
      const winner = results.find(({ accepted }) => accepted._tag === "Claimed")!
      const loser = results.find(({ accepted }) => accepted._tag === "Running")!
      const stolen = { ...winner.command, claimToken: loser.command.claimToken }
      assert.isFalse(yield* settle(stolen, yield* MessageFixture.acceptedOutcome))
      assert.isTrue(yield* settle(winner.command, yield* MessageFixture.acceptedOutcome))
    }))

  it.effect("of racing requests with one key and two bodies, one is claimed and the other body conflicts", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const key = yield* Fixture.word
      const results = yield* race(own, 60, (n) => ({ key, fingerprint: n % 2 === 0 ? "even" : "odd" }))
      const winner = results.find(({ accepted }) => accepted._tag === "Claimed")!
      for (const { accepted, command } of results) {
        if (command === winner.command) continue
        const same = command.request.fingerprint === winner.command.request.fingerprint
        assert.strictEqual(accepted._tag, same ? "Running" : "Conflict")
      }
    }))

  it.effect("a key belongs to one workspace and one route, whatever the API key, exactly as written", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world({ start: own.start })
      const key = "Order-7"
      yield* claimed(own, { key })
      yield* claimed(other, { key })
      yield* claimed(own, { key, route: "POST /v1/others" })
      yield* claimed(own, { key: "order-7" })
      yield* claimed(own, { key: "Order-7." })
      const rotated = yield* Fixture.issuedKey(own.workspace.id, own.start)
      const { accepted } = yield* accept(own, { key, apiKeyId: rotated.id })
      assert.strictEqual(accepted._tag, "Running")
    }))

  it.effect("a key may hold every visible character, 255 of them", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const visible = Array.from({ length: 94 }, (_, i) => String.fromCharCode(0x21 + i)).join("")
      for (const key of [visible, visible.repeat(3).slice(0, 255), "'", "\\", "%", "\"\"", "$1"]) {
        const { command } = yield* claimed(own, { key })
        assert.strictEqual((yield* accept(own, { key })).accepted._tag, "Running")
        assert.strictEqual((yield* accept(own, { key, fingerprint: "two" })).accepted._tag, "Conflict")
        assert.strictEqual(command.request.key, key)
      }
    }))

  it.effect("a claim runs until its lease ends; then its outcome is unknown, and it is never claimed again", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const { command } = yield* claimed(own)
      const key = command.request.key
      const told = (now: number) => Effect.map(accept(own, { key, now }), ({ accepted }) => accepted)
      const end = command.leaseUntil
      assert.strictEqual((yield* told(end - 1))._tag, "Running")
      const unknown = { _tag: "Unknown", reason: "outcome_unknown" } as const
      assert.deepStrictEqual(yield* lookUp(command, end - 1), { _tag: "Running" })
      assert.deepStrictEqual(yield* lookUp(command, end), unknown)
      const { readings, ...verdict } = yield* told(end)
      assert.deepStrictEqual(verdict, unknown)
      assert.strictEqual(readings.length, 1)
      yield* messages.sweep(end)
      assert.strictEqual((yield* told(end))._tag, "Unknown")
      assert.strictEqual((yield* told(end + 9 * minute))._tag, "Unknown")
      yield* messages.sweep(end + 10 * minute)
      const given = { _tag: "Unknown", reason: "delivery_unknown" } as const
      assert.deepStrictEqual(yield* lookUp(command, end + hour), given)
      assert.strictEqual((yield* told(end + hour))._tag, "Unknown")
      const racing = yield* race(own, 20, () => ({ key, now: end + 2 * hour }))
      assert.strictEqual(count(racing.map(({ accepted }) => accepted._tag), "Unknown"), 20)
    }))

  it.effect("a different body conflicts immediately, whatever happened to the first", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const conflict = (command: MessageStore.AcceptSend, now = own.start) =>
        Effect.gen(function*() {
          const other = { key: command.request.key, fingerprint: "two", now }
          assert.strictEqual((yield* accept(own, other)).accepted._tag, "Conflict")
          const request = { ...command.request, fingerprint: "two" }
          assert.deepStrictEqual(
            yield* MessageStore.MessageStore.use((store) => store.lookUp(request, now)),
            { _tag: "Conflict" }
          )
        })
      const running = yield* claimed(own)
      yield* conflict(running.command)
      const answered = yield* MessageFixture.sent(own)
      yield* conflict(answered.command)
      const released = yield* claimed(own)
      yield* settle(released.command, yield* MessageFixture.notSentOutcome)
      yield* conflict(released.command)
      const unknown = yield* claimed(own)
      yield* settle(unknown.command, { _tag: "Unknown" })
      yield* conflict(unknown.command)
      yield* conflict(running.command, running.command.leaseUntil)
    }))

  it.effect("an accepted send gets the same answer with the same ids every time", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command, messageId, providerMessageId } = yield* MessageFixture.sent(own)
      const rotated = yield* Fixture.issuedKey(own.workspace.id, own.start)
      const expected = {
        _tag: "Answered",
        answer: {
          _tag: "Sent",
          messageId,
          providerMessageId,
          workspaceId: own.workspace.id,
          apiKeyId: own.key.id
        }
      }
      for (let i = 0; i < 2; i++) {
        const { accepted } = yield* accept(own, { key: command.request.key, apiKeyId: rotated.id })
        const { readings: _, ...verdict } = accepted
        assert.deepStrictEqual(verdict, expected as typeof verdict)
        assert.deepStrictEqual(yield* lookUp(command, own.start), expected as SendBinding.Verdict)
      }
    }))

  it.effect("a refusal of the provider is replayed exactly", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      const end = yield* MessageFixture.refusedOutcome(own.start)
      yield* settle(command, end)
      const { accepted } = yield* accept(own, { key: command.request.key })
      assert.strictEqual(accepted._tag, "Answered")
      if (accepted._tag !== "Answered" || accepted.answer._tag !== "Failed") return assert.fail("no stored failure")
      const { error, requestId } = accepted.answer
      assert.isTrue(Errors.isDomainError(error), "an error that can be failed with")
      if (end.answer._tag !== "Failed") return assert.fail("no failure to store")
      assert.strictEqual(requestId, end.answer.requestId)
      assert.deepStrictEqual({ ...error }, { ...end.answer.error })
      assert.strictEqual(error.message, end.answer.error.message)
      assert.deepStrictEqual(error.provider, end.answer.error.provider)
    }))

  it.effect("every kind of stored error is returned as stored", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const requestId = yield* Fixture.id("req")
      const errors = [
        new Errors.InvalidBody({ reason: "undeliverable", message: "no", param: "to" }),
        new Errors.Forbidden({ reason: "provider_policy", message: "no", provider: { code: "131050", message: "é" } }),
        new Errors.ServerError({ reason: "provider_error", message: "“no”" })
      ]
      for (const error of errors) {
        const { command } = yield* claimed(own)
        const refused = yield* MessageFixture.refusedOutcome(own.start)
        yield* settle(command, { ...refused, answer: { _tag: "Failed", error, requestId } })
        const verdict = yield* lookUp(command, own.start)
        if (verdict._tag !== "Answered" || verdict.answer._tag !== "Failed") return assert.fail("no stored failure")
        assert.strictEqual(verdict.answer.error._tag, error._tag)
        assert.deepStrictEqual({ ...verdict.answer.error }, { ...error })
      }
    }))

  it.effect("a send that certainly sent nothing may be claimed again, with the same message", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const first = yield* claimed(own)
      const key = first.command.request.key
      const end = yield* MessageFixture.notSentOutcome
      yield* settle(first.command, end, own.start + second)
      const released = yield* lookUp(first.command, own.start + second)
      assert.strictEqual(released._tag, "Released")
      if (released._tag !== "Released" || released.lastFailure?._tag !== "Failed") return assert.fail("no failure told")
      if (end.answer._tag !== "Failed") return assert.fail("no failure to tell")
      assert.deepStrictEqual({ ...released.lastFailure.error }, { ...end.answer.error })
      assert.strictEqual(released.lastFailure.requestId, end.answer.requestId)

      const now = own.start + hour
      const results = yield* race(own, 50, () => ({ key, now }))
      const tags = results.map(({ accepted }) => accepted._tag)
      assert.deepStrictEqual([count(tags, "Claimed"), count(tags, "Running")], [1, 49])
      const second_ = results.find(({ accepted }) => accepted._tag === "Claimed")!
      if (second_.accepted._tag !== "Claimed") return assert.fail("not claimed")
      assert.strictEqual(second_.accepted.message.id, first.command.messageId)
      assert.strictEqual(second_.accepted.message.status, "sending")
      assert.strictEqual(second_.accepted.message.createdAt, own.start)
      for (const { command } of results) {
        assert.deepStrictEqual(yield* messages.get(own.workspace.id, command.messageId), Option.none())
      }
      assert.deepStrictEqual(yield* lookUp(first.command, now), { _tag: "Running" })

      // the first try's token is now invalid
      assert.isFalse(yield* settle(first.command, yield* MessageFixture.acceptedOutcome, now))
      const command = { ...second_.command, messageId: first.command.messageId }
      const took = yield* MessageFixture.acceptedOutcome
      assert.isTrue(yield* settle(command, took, now))
      const verdict = yield* lookUp(first.command, now)
      assert.deepStrictEqual(verdict, {
        _tag: "Answered",
        answer: {
          _tag: "Sent",
          messageId: first.command.messageId,
          providerMessageId: took.providerMessageId,
          workspaceId: own.workspace.id,
          apiKeyId: own.key.id
        }
      })
    }))

  it.effect("callers that joined a later try get that try's failure", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const first = yield* claimed(own)
      yield* settle(first.command, yield* MessageFixture.notSentOutcome)
      const again = yield* claimed(own, { key: first.command.request.key, now: own.start + minute })
      const end = yield* MessageFixture.notSentOutcome
      yield* settle(again.command, end)
      const verdict = yield* lookUp(first.command, own.start + minute)
      if (verdict._tag !== "Released" || verdict.lastFailure?._tag !== "Failed") return assert.fail("no failure told")
      assert.strictEqual(verdict.lastFailure.requestId, end.answer._tag === "Failed" ? end.answer.requestId : "")
    }))

  it.effect("a retry is judged again, and refusing it leaves the message as it was", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      yield* MessageFixture.inbound(own)
      const message = MessageFixture.text()
      const first = yield* claimed(own, { message })
      yield* settle(first.command, yield* MessageFixture.notSentOutcome)
      const before = yield* messages.get(own.workspace.id, first.command.messageId)
      const again = { key: first.command.request.key, message }
      const refused = yield* accept(own, { ...again, now: own.start + day })
      assert.strictEqual(describe(refused.accepted), "forbidden/outside_service_window")
      assert.deepStrictEqual(yield* messages.get(own.workspace.id, first.command.messageId), before)
      assert.strictEqual((yield* lookUp(first.command, own.start + hour))._tag, "Released")
      const claimedAgain = yield* claimed(own, { ...again, now: own.start + hour })
      assert.strictEqual(claimedAgain.accepted.message.id, first.command.messageId)
    }))

  it.effect("a key is forgotten 24 hours after its answer, and then claims a new message", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const { command } = yield* claimed(own)
      const answeredAt = own.start + 5 * second
      yield* settle(command, yield* MessageFixture.acceptedOutcome, answeredAt)
      const key = command.request.key
      assert.strictEqual((yield* lookUp(command, answeredAt + day - 1))._tag, "Answered")
      assert.strictEqual(
        (yield* accept(own, { key, fingerprint: "two", now: answeredAt + day - 1 })).accepted._tag,
        "Conflict"
      )
      assert.deepStrictEqual(yield* lookUp(command, answeredAt + day), { _tag: "Unbound" })
      const again = yield* claimed(own, { key, fingerprint: "two", now: answeredAt + day })
      assert.notStrictEqual(again.command.messageId, command.messageId)
      // a sweep of the expired key does not touch the new binding
      yield* messages.sweep(answeredAt + day)
      assert.deepStrictEqual(yield* lookUp(again.command, answeredAt + day), { _tag: "Running" })
      assert.isTrue(Option.isSome(yield* messages.get(own.workspace.id, command.messageId)))
      assert.isTrue(yield* settle(again.command, yield* MessageFixture.acceptedOutcome))
    }))

  it.effect("of racing requests with an expired key, exactly one is claimed", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* MessageFixture.sent(own)
      const results = yield* race(own, 30, () => ({ key: command.request.key, now: own.start + day }))
      const tags = results.map(({ accepted }) => accepted._tag)
      assert.deepStrictEqual([count(tags, "Claimed"), count(tags, "Running")], [1, 29])
    }))

  it.effect("lookUp spends nothing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      for (let i = 0; i < 5; i++) yield* lookUp(command, own.start)
      const { accepted } = yield* claimed(own)
      assert.strictEqual(accepted.readings[0]!.remaining, 1_999_998)
    }))
}
