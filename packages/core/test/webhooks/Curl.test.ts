import { assert, describe, it } from "@effect/vitest"
import * as Curl from "@wac/testbed/Curl"
import { RecordingReceiver } from "@wac/testkit"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { command } from "../../src/webhooks/Curl.ts"

const shell = (text: string) => Effect.promise(() => promisify(execFile)("/bin/sh", ["-c", text], { env: {} }))

const bodies = [
  "{\"text\":\"plain\"}",
  "it's '' $(touch x) `id` ${HOME} \\ \\' \" ! # & ; | > < * ? ~",
  "@/etc/passwd",
  "two\nlines\r\n\n",
  "čau 👋 \u2028 %41%00 +&=",
  "-X DELETE --data x",
  "x".repeat(100_000)
]

describe("a curl command", Curl.needed, () => {
  for (const body of bodies) {
    it.live(`the command posts exactly ${JSON.stringify(body.slice(0, 40))}`, () =>
      Effect.gen(function*() {
        const receiver = yield* RecordingReceiver.make
        const url = `${receiver.url}a'b/[1-3]/{x,y}?q=$(id)&r='%20;echo`
        const headers = { "content-type": "application/json", "x-odd": "it's \"$HOME\" `id` \\" }
        const { stdout } = yield* shell(command({ url, headers, body, timeout: 5 }))
        assert.match(stdout, /^HTTP\/1\.1 200 OK/)
        const [request, ...others] = yield* receiver.requests
        assert.deepStrictEqual(others, [])
        assert.strictEqual(request!.method, "POST")
        assert.strictEqual(request!.target, "/a'b/[1-3]/{x,y}?q=$(id)&r='%20;echo")
        assert.strictEqual(new TextDecoder().decode(request!.body), body)
        assert.strictEqual(request!.headers["x-odd"], headers["x-odd"])
        assert.strictEqual(request!.headers["content-type"], "application/json")
      }).pipe(Effect.scoped))
  }
})
