/**
 * Names whose servers answer for one family of addresses late or never, looked up from a DNS server on the loopback
 * whose silence lasts longer than a test.
 */
import { assert, describe, it } from "@effect/vitest"
import { ReceiverGuard } from "@wac/core"
import { Effect, Result } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { parseCidrs } from "../src/ReceiverAddress.ts"
import * as ReceiverGuardDns from "../src/ReceiverGuardDns.ts"
import { lookup } from "../src/ReceiverLookup.ts"
import { layer } from "../src/WebhookTransportHttp.ts"
import { type Family, type Reply, serveNames } from "./nameServer.ts"
import { allowedCidrs, post, reply, serve } from "./receivers.ts"

const cidrs = (text: string) => Result.getOrThrow(parseCidrs(text))

/** A receiver on the IPv6 loopback. */
const serve6 = Effect.acquireRelease(
  Effect.promise(() => {
    const server = createServer(reply(200))
    return new Promise<typeof server>((resolve) => server.listen(0, "::1", () => resolve(server)))
  }),
  (server) =>
    Effect.promise(() => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
)

const portOf = (server: { readonly address: () => unknown }) => (server.address() as AddressInfo).port

const addressed = (answers: { readonly [family in Family]: Reply }) => serveNames((family) => answers[family])

/** Answers for IPv4 at once, and for IPv6 when `late` is called. */
const lateAnswer = (four: Reply, six: Reply) =>
  Effect.gen(function*() {
    const called = Promise.withResolvers<void>()
    const { resolver } = yield* serveNames((family) => family === "A" ? four : called.promise.then(() => six))
    return { resolver, late: called.resolve }
  })

describe("a name server that is silent about one family", () => {
  for (
    const [silent, answers, listening, address] of [
      ["AAAA", { A: ["127.0.0.1"], AAAA: "silence" }, serve(reply(200)), "127.0.0.1"],
      ["A", { A: "silence", AAAA: ["::1"] }, Effect.map(serve6, (server) => ({ port: portOf(server) })), "::1"]
    ] as const
  ) {
    it.live(`an event is delivered to the known addresses, without an answer for ${silent}`, () =>
      Effect.gen(function*() {
        const { port } = yield* listening
        const { resolver } = yield* addressed(answers)
        const answer = yield* post(`http://receiver.example:${port}/`).pipe(
          Effect.provide(layer({ allowInsecure: true, allowedCidrs, resolver }))
        )
        assert.deepStrictEqual([answer.outcome, answer.address], ["delivered", address])
      }))

    it.live(`a webhook is saved without an answer for ${silent}, by the verdict on the known addresses`, () =>
      Effect.gen(function*() {
        const { resolver } = yield* addressed(answers)
        const check = (allowed: string) =>
          ReceiverGuard.ReceiverGuard.use((guard) => Effect.result(guard.check(new URL("http://receiver.example/"))))
            .pipe(Effect.provide(
              ReceiverGuardDns.layer({ allowInsecure: true, allowedCidrs: cidrs(allowed), resolver })
            ))
        assert.isTrue(Result.isSuccess(yield* check("127.0.0.0/8,::1")))
        const refused = yield* check("10.0.0.0/8")
        assert.include(Result.isFailure(refused) ? refused.failure.message : "", "a loopback address")
      }))
  }

  it.live("a name without addresses of the other family has not enough to connect to", () =>
    Effect.gen(function*() {
      const asked = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      const { resolver } = yield* serveNames(async (family) => {
        if (family === "AAAA") return []
        asked.resolve()
        await released.promise
        return ["127.0.0.1"]
      })
      const finding = lookup({ allowedCidrs: [], resolver })("receiver.example")
      yield* Effect.promise(() => asked.promise)
      released.resolve()
      assert.deepStrictEqual(yield* Effect.promise(() => finding), { addresses: ["127.0.0.1"], late: null })
    }))
})

describe("a late answer", () => {
  it.live("the addresses that were not known in time are kept apart from the known ones", () =>
    Effect.gen(function*() {
      const { late, resolver } = yield* lateAnswer(["192.0.2.1"], ["2001:db8::1"])
      const found = yield* Effect.promise(() => lookup({ allowedCidrs: [], resolver })("receiver.example"))
      assert.deepStrictEqual(found.addresses, ["192.0.2.1"])
      late()
      assert.deepStrictEqual(yield* Effect.promise(async () => found.late), ["2001:db8::1"])
    }))

  /** A loopback address on which nothing listens. */
  const refusing4 = "127.200.0.1"

  const receiver6 = Effect.map(serve6, (server) => ({ server, port: portOf(server) }))

  it.live("a late address is connected to if the known addresses refuse", () =>
    Effect.gen(function*() {
      const { port } = yield* receiver6
      const { late, resolver } = yield* lateAnswer([refusing4], ["::1"])
      setTimeout(late, 200)
      const answer = yield* post(`http://receiver.example:${port}/`).pipe(
        Effect.provide(layer({ allowInsecure: true, allowedCidrs, resolver }))
      )
      assert.deepStrictEqual([answer.outcome, answer.address], ["delivered", "::1"])
    }))

  it.live("a late address is judged before it is connected to", () =>
    Effect.gen(function*() {
      const { port, server } = yield* receiver6
      let connections = 0
      server.on("connection", () => connections++)
      const { late, resolver } = yield* lateAnswer([refusing4], ["::1"])
      setTimeout(late, 200)
      const answer = yield* post(`http://receiver.example:${port}/`).pipe(
        Effect.provide(layer({ allowInsecure: true, allowedCidrs: cidrs("127.0.0.0/8"), resolver }))
      )
      assert.deepStrictEqual([answer.outcome, connections], ["blocked_address", 0])
    }))

  it.live("the refusal of the known addresses is reported if the late answer brings none", () =>
    Effect.gen(function*() {
      const { port } = yield* receiver6
      const { late, resolver } = yield* lateAnswer([refusing4], "NXDOMAIN")
      setTimeout(late, 200)
      const answer = yield* post(`http://receiver.example:${port}/`).pipe(
        Effect.provide(layer({ allowInsecure: true, allowedCidrs, resolver }))
      )
      assert.deepStrictEqual([answer.outcome, answer.message], ["connect", "refused the connection"])
    }))

  it.live("an attempt that is given up while its late answer is awaited connects to nothing more", () =>
    Effect.gen(function*() {
      const { port, server } = yield* receiver6
      let connections = 0
      server.on("connection", () => connections++)
      const { late, resolver } = yield* lateAnswer([refusing4], ["::1"])
      const answer = yield* Effect.timeoutOption(
        post(`http://receiver.example:${port}/`),
        "300 millis"
      ).pipe(Effect.provide(layer({ allowInsecure: true, allowedCidrs, resolver })))
      assert.strictEqual(answer._tag, "None")
      late()
      // the answer has arrived when the same resolver has answered again
      yield* Effect.promise(() => resolver.resolve6("receiver.example"))
      assert.strictEqual(connections, 0)
    }))
})
