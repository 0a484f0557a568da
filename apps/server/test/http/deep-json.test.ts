/**
 * JSON of any depth from one workspace fails no request of another one, though the storage gets them in one batch.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { resultOf, wac } from "../commandLine.ts"
import { call, hello, ready, send } from "../harness.ts"
import { emptyDatabase, masterKey, postgres } from "../processes.ts"

/** Requests whose JSON nests so deep that whoever encodes it recursively has no stack left. */
const bombs = [5000, 6500, 7000, 9000].map((levels) =>
  `{"to":"+15551234567","type":"interactive","interactive":{"type":"flow","body":{"text":"x"},"action":{` +
  `"name":"flow","parameters":{"flow_message_version":"3","flow_token":"t","flow_id":"1","flow_cta":"Go",` +
  `"flow_action":"navigate","flow_action_payload":{"screen":"A","data":${"{\"a\":".repeat(levels)}1${
    "}".repeat(levels)
  }}}}}}`
)

it.live("while a workspace sends JSON of any depth, each send of another workspace is accepted", () =>
  Effect.gen(function*() {
    const env = { DATABASE_URL: yield* Effect.flatMap(postgres, emptyDatabase), WAC_MASTER_KEY: masterKey() }
    const own = yield* ready({ environment: { ...checks.unlimited, ...env } })
    const run = wac({ ...env, PUBLIC_URL: "https://wac.example.com" })
    const { id } = resultOf(
      yield* run("workspaces create Shop --number +14155550123 --id 1066 --account sandbox --json")
    )
    const hostile = resultOf(yield* run(`keys create hostile --workspace ${id} --json`))
    const authorization = `Bearer ${hostile.apiKey}`
    yield* Effect.forEach(bombs, (bomb) =>
      Effect.gen(function*() {
        const [refused, ...accepted] = yield* Effect.all([
          call(`${own.url}/v1/messages`, {
            headers: { authorization, "idempotency-key": crypto.randomUUID(), "content-type": "application/json" },
            body: bomb
          }),
          ...Array.from({ length: 20 }, () => send(own, hello("+15005550003")))
        ], { concurrency: "unbounded" })
        assert.deepStrictEqual([refused!.status, refused!.body.error.reason], [400, "invalid_field"])
        for (const { status, text } of accepted) assert.strictEqual(status, 200, text)
      }))
  }).pipe(Effect.scoped))
