/**
 * Stopping: the process ends in its time, whatever the storage does, and begins nothing in it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Provider, Stopping, Time } from "@wac/core"
import { SandboxProvider } from "@wac/sandbox"
import { Context, Effect, Exit, Fiber, Latch, Layer, Scope } from "effect"
import * as checks from "../checks.ts"
import * as harness from "../harness.ts"
import { call, hello, send } from "../harness.ts"
import { still } from "../movable.ts"
import { masterKey, proxied, type Running, signedIn, start } from "../processes.ts"

/** Contract §8: at most 9.5 s in all; and what the machine takes to end a process and tell of it. */
const bound = 9500 + 1500

const stopped = ({ child, ended }: Running) =>
  Effect.promise(async () => {
    const begun = performance.now()
    child.kill("SIGTERM")
    return { end: await ended, took: performance.now() - begun }
  })

describe("SIGTERM", () => {
  it.live("SIGTERM ends the process in time even if every connection to PostgreSQL is silent", () =>
    checks.assertBelow(
      bound,
      Effect.gen(function*() {
        const { proxy } = yield* proxied
        const running = yield* start({ DATABASE_URL: proxy.url, WAC_MASTER_KEY: masterKey() })
        const { key } = yield* signedIn(running)
        const at = { url: running.url, key }
        yield* Effect.replicateEffect(send(at, hello()), 12, { concurrency: "unbounded" })
        proxy.freeze()
        // somebody is waiting for it
        yield* Effect.forkChild(Effect.sandbox(send(at, hello())))
        yield* Effect.sandbox(call(`${running.url}/readyz`))
        const { end, took } = yield* stopped(running)
        assert.deepStrictEqual(end, { code: 0, signal: null })
        return took
      }).pipe(Effect.scoped)
    ))

  it.live("while a stop waits for a request, queued messages that become due are not sent", () =>
    Effect.gen(function*() {
      const sent: Array<unknown> = []
      const mayEnd = yield* Latch.make()
      const provider = Layer.effect(
        Provider.Provider,
        Effect.map(Provider.Provider, (sandbox) =>
          Provider.Provider.of({
            ...sandbox,
            send: (command) => {
              sent.push(command.message.to)
              return Effect.andThen(mayEnd.await, sandbox.send(command))
            }
          }))
      ).pipe(Layer.provide(SandboxProvider.layer))
      const scope = yield* Scope.make()
      // no message becomes due before the stop has begun, however slow the machine is
      const { clock, pass, ...server } = yield* still(harness.start({ adapters: { provider } })).pipe(
        Scope.provide(scope)
      )
      const key = yield* harness.createKey(server.url, yield* harness.signIn(server.url))
      const at = { url: server.url, key }
      const sendAt = Time.iso(clock.currentTimeMillisUnsafe() + 1000)
      const queued = yield* send(at, { ...hello("+15551234568"), send_at: sendAt })
      assert.strictEqual(queued.status, 202, queued.text)
      const sending = yield* Effect.forkChild(send(at, hello("+15551234567")))
      while (sent.length === 0) yield* Effect.sleep("10 millis")
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      const { isBegun } = Context.get(server.services, Stopping.Stopping)
      while (!isBegun()) yield* Effect.sleep("10 millis")
      // what still looked for due messages would find it
      for (let second = 0; second < 4; second++) {
        yield* pass("1 second")
        yield* Effect.sleep("250 millis")
      }
      yield* mayEnd.open
      assert.strictEqual((yield* Fiber.join(sending)).status, 200)
      yield* Fiber.join(stopping)
      assert.lengthOf(sent, 1)
    }).pipe(Effect.scoped))
})
