import { Provider } from "@wac/core"
import { Context, Effect } from "effect"
import { assert, it } from "vitest"
import { InFlight } from "../src/InFlight.ts"
import * as Running from "../src/Running.ts"
import { failure } from "./instance.ts"

it("an operation that fails because of the provider reports the reason, like the HTTP API", async () => {
  const { run } = Running.make(Context.empty(), new InFlight(), Effect.void)
  for (const reason of ["provider_error", "provider_unavailable"] as const) {
    for (const error of [Provider.TemplatesUnavailable, Provider.ProviderError]) {
      const rejected = await failure(run(Effect.fail(new error({ reason, message: "no answer" }))))
      assert.deepInclude(rejected, { code: "server_error", reason, message: "no answer" })
    }
  }
})
