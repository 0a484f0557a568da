import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import * as PostgresClient from "../src/PostgresClient.ts"

describe("an address that is none", () => {
  const wrong: ReadonlyArray<readonly [what: string, url: string, words: RegExp]> = [
    ["a mode of TLS that there is not", "postgres://wac:hunter2@127.0.0.1:1/wac?sslmode=so", /sslmode/],
    ["port 0", "postgres://wac:hunter2@127.0.0.1:0/wac", /port/],
    ["a port beyond all", "postgres://wac:hunter2@127.0.0.1/wac?port=70000", /port/],
    ["a deadline that is none", "postgres://wac:hunter2@127.0.0.1:1/wac?connect_timeout=soon", /connect_timeout/],
    ["text in a code of its own", "postgres://wac:hunter2%zz@127.0.0.1:1/wac", /percent-encoding/],
    ["another database's", "mysql://wac:hunter2@127.0.0.1:1/wac", /protocol/],
    ["no address at all", "hunter2", /Invalid URL/]
  ]
  // under the test's clock: who waits for it to get better waits for ever
  it.effect.each(wrong)("is refused at once: %s", ([, url, words]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Layer.build(PostgresClient.layer({ url: Redacted.make(url) })))
      assert.strictEqual(error._tag, "OpenError")
      assert.match(error.message, /^cannot use PostgreSQL: [^\n]+$/)
      assert.match(error.message, words)
      assert.notInclude(error.message, "hunter2")
    }).pipe(Effect.scoped))

  it.effect("is not one of a server that is away", () =>
    Layer.build(PostgresClient.layer({ url: Redacted.make("postgres://wac:hunter2@127.0.0.1:1/wac?sslmode=prefer") }))
      .pipe(
        Effect.scoped
      ))
})
