import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { type AddressInfo, createServer } from "node:net"
import * as PostgresClient from "../src/PostgresClient.ts"

describe("an invalid URL", () => {
  const wrong: ReadonlyArray<readonly [what: string, url: string, words: RegExp]> = [
    ["a mode of TLS that there is not", "postgres://wac:hunter2@127.0.0.1:1/wac?sslmode=so", /sslmode/],
    ["port 0", "postgres://wac:hunter2@127.0.0.1:0/wac", /port/],
    ["a port beyond all", "postgres://wac:hunter2@127.0.0.1/wac?port=70000", /port/],
    ["a deadline that is none", "postgres://wac:hunter2@127.0.0.1:1/wac?connect_timeout=soon", /connect_timeout/],
    ["text in a code of its own", "postgres://wac:hunter2%zz@127.0.0.1:1/wac", /percent-encoding/],
    ["another database's", "mysql://wac:hunter2@127.0.0.1:1/wac", /postgres:/],
    ["no address at all", "hunter2", /postgres:/],
    ["a second host without a port", "postgres://wac:hunter2@127.0.0.1:1,127.0.0.1:x/wac", /second host/]
  ]
  // under the test clock, so waiting for the server would never end
  it.effect.each(wrong)("an invalid URL is refused immediately: %s", ([, url, words]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Layer.build(PostgresClient.layer({ url: Redacted.make(url) })))
      assert.strictEqual(error._tag, "OpenError")
      assert.match(error.message, /^cannot use PostgreSQL: [^\n]+$/)
      assert.match(error.message, words)
      assert.notInclude(error.message, "hunter2")
    }).pipe(Effect.scoped))

  it.effect("a server that is down is waited for, unlike an invalid URL", () =>
    Effect.gen(function*() {
      const asked = Promise.withResolvers<void>()
      const server = createServer((socket) => {
        socket.destroy()
        asked.resolve()
      })
      yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
      const { port } = server.address() as AddressInfo
      const url = Redacted.make(`postgres://wac:hunter2@127.0.0.1:${port}/wac?sslmode=prefer`)
      // the clock stands still: it connects once, and waits to retry
      const building = yield* Effect.forkChild(Layer.build(PostgresClient.layer({ url })), { startImmediately: true })
      yield* Effect.promise(() => asked.promise)
      yield* Effect.replicateEffect(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))), 20)
      assert.isUndefined(building.pollUnsafe())
    }).pipe(Effect.scoped))
})
