import { Errors, Provider } from "@wac/core"
import { Context, Effect } from "effect"
import { assert, describe, it } from "vitest"
import { InFlight } from "../src/InFlight.ts"
import * as Running from "../src/Running.ts"
import { failure } from "./instance.ts"

const start = () => {
  const inFlight = new InFlight()
  return { inFlight, ...Running.make(Context.empty(), inFlight, Effect.void) }
}

describe("an operation", () => {
  it("an operation that fails because of the provider reports the reason, like the HTTP API", async () => {
    const { run } = start()
    for (const reason of ["provider_error", "provider_unavailable"] as const) {
      for (const error of [Provider.TemplatesUnavailable, Provider.ProviderError]) {
        const rejected = await failure(run(Effect.fail(new error({ reason, message: "no answer" }))))
        assert.deepInclude(rejected, { code: "server_error", reason, message: "no answer", status: 502 })
      }
    }
  })

  it("an operation whose error cannot be reported rejects nevertheless", async () => {
    const { inFlight, run } = start()
    const broken = Object.defineProperty(new Errors.NotFound({ message: "none" }), "code", {
      get: () => {
        throw new Error("no code")
      }
    })
    assert.deepInclude(await failure(run(Effect.fail(broken))), { code: "server_error", reason: "internal" })
    const unnamed = () => {
      throw new Error("no id")
    }
    const named = await failure(run(Effect.fail(new Errors.NotFound({ message: "none" })), { requestId: unnamed }))
    assert.deepInclude(named, { code: "server_error", reason: "internal" })
    await inFlight.stop()
  })

  it("an error's stack has the line that called, and its message the request's id", async () => {
    const { run } = start()
    const error = await failure(
      run(Effect.fail(new Errors.NotFound({ message: "none" })), { requestId: () => "req_1" })
    )
    assert.match(error.stack!, /^WacError: none \(req_1\)\n[^]*Running\.test\.ts/)
  })
})
