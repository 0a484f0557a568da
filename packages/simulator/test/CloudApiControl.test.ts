import { assert, it } from "@effect/vitest"
import { CloudApi } from "@wac/simulator"
import { RecordingReceiver } from "@wac/testkit"
import { Effect } from "effect"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { call, path, plain, to } from "./CloudApiCalls.ts"
import { changesOf, statusesOf, willing } from "./CloudApiPosts.ts"

const simulator = ["--conditions=source", fileURLToPath(new URL("../src/simulator.ts", import.meta.url))]

it.live("every control of the process works over HTTP, and an invalid request is refused with the cause", () =>
  Effect.gen(function*() {
    const api = yield* CloudApi.make({ settings: { sentAfter: 0, deliveredAfter: null, readAfter: null } })
    const receiver = yield* RecordingReceiver.make
    yield* receiver.answerWith(willing)
    const done = Effect.fnUntraced(function*(name: string, body?: object) {
      const { http, json } = yield* call(api, `/_sim/${name}`, body)
      assert.strictEqual(http, 200, `${name}: ${JSON.stringify(json)}`)
      return json
    })
    assert.deepInclude(yield* done("subscribe", { url: receiver.url }), { subscribed: true })
    const { id } = yield* done("inbound", { from: to, kind: "image" })
    const echo = yield* done("echo", { to, text: "From my own phone" })
    yield* done("preference", { from: to, value: "stop" })
    yield* done("move", { from: to, to: "+16505559876" })
    yield* done("number", { id: api.identity.numbers[0].id, change: { status: "FLAGGED" } })
    yield* done("template", { name: "promo", status: "PAUSED" })
    yield* done("alert", {})
    yield* done("error", { code: 130429 })
    yield* done("announce", { field: "security", value: { event: "PIN_CHANGED" } })
    yield* api.courier.settled
    const changes = changesOf((yield* receiver.requests).slice(1))
    assert.sameMembers(changes.map(({ field }) => field), [
      "messages",
      "smb_message_echoes",
      "user_preferences",
      "messages",
      "phone_number_quality_update",
      "message_template_status_update",
      "account_alerts",
      "messages",
      "security"
    ])
    assert.strictEqual(changes[0]!.value.messages[0].id, id)
    assert.deepInclude(changes[1]!.value.message_echoes[0], {
      from: api.identity.numbers[0].display.replace(/\D/g, ""),
      to: to.slice(1),
      id: echo.id,
      type: "text",
      text: { body: "From my own phone" }
    })

    yield* done("recipient", { to: "+16505550001", behaviour: { refuse: { code: 131026 } } })
    assert.strictEqual((yield* call(api, path(api), { ...plain, to: "+16505550001" })).json.error.code, 131026)
    yield* done("faults", { next: [{ kind: "error", code: 80007, regain: 7 }] })
    const limited = yield* call(api, path(api), { ...plain, biz_opaque_callback_data: "msg_1" })
    assert.strictEqual(limited.json.error.code, 80007)
    const [usage] = JSON.parse(limited.headers.get("x-business-use-case-usage")!)[api.identity.account]
    assert.strictEqual(usage.estimated_time_to_regain_access, 7)
    yield* done("faults", { random: { rate: 1, faults: [{ kind: "error" }] } })
    yield* Effect.promise(() => fetch(`${api.url}/_sim/faults`, { method: "DELETE" }))
    yield* call(api, path(api), { ...plain, biz_opaque_callback_data: "msg_1" })
    assert.deepStrictEqual(yield* done("processed"), { msg_1: 1 })
    const log = yield* done("log?reference=msg_1")
    assert.strictEqual(log.processed, 1)
    assert.deepStrictEqual(
      log.calls.map(({ code, fault, http }: CloudApi.Call) => [fault, http, code]),
      [["error", 400, 80007], [undefined, 200, null]]
    )
    yield* done("status", { message: "msg_1", status: "read" })
    yield* api.courier.settled
    assert.include(statusesOf((yield* receiver.requests).slice(1)).map(({ status }) => status), "read")
    const before = (yield* receiver.requests).length
    yield* done("redeliver", { posts: [1, 2] })
    assert.strictEqual((yield* receiver.requests).length, before + 2)

    yield* done("tokens", { tokens: ["other"] })
    assert.strictEqual((yield* call(api, path(api), plain)).json.error.code, 190)
    assert.strictEqual((yield* done("settings", { duplicates: 0.5 })).duplicates, 0.5)
    assert.strictEqual((yield* done("settings")).duplicates, 0.5)
    for (
      const [name, body, words] of [
        ["settings", { duplicates: 2 }, /duplicates/],
        ["settings", { duplicate: 1 }, /duplicate/],
        ["faults", { next: [{ kind: "bite" }] }, /kind/],
        ["inbound", { from: to, kind: "smell" }, /kind/],
        ["echo", { to, kind: "smell" }, /kind/],
        ["echo", {}, /to/],
        ["status", { message: "nobody", status: "read" }, /no such message/],
        ["clock", { advance: 1 }, /clock/]
      ] as const
    ) {
      const { http, json } = yield* call(api, `/_sim/${name}`, body)
      assert.strictEqual(http, 400)
      assert.match(json.problem, words)
    }
    assert.strictEqual((yield* call(api, "/_sim/nothing")).http, 404)
  }))

it.live("the program does not start with an invalid variable, and names it", () =>
  Effect.gen(function*() {
    const wrong = { SIMULATOR_PORT: ["abc", "70000"], SIMULATOR_SEED: ["1.5"], SIMULATOR_CALLBACK: ["localhost"] }
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) {
        const env = { ...process.env, SIMULATOR_PORT: "0", [name]: value }
        const failed = yield* Effect.flip(
          Effect.tryPromise(() => promisify(execFile)(process.execPath, simulator, { env, timeout: 500_000 }))
        )
        assert.match(String((failed.cause as { stderr?: unknown }).stderr), new RegExp(`^${name} must be .+\\n$`))
        assert.propertyVal(failed.cause, "code", 1)
      }
    }
  }))

it.live("the program prints its variables, subscribes, has a clock to move, and stops on SIGTERM", () =>
  Effect.gen(function*() {
    const receiver = yield* RecordingReceiver.make
    yield* receiver.answerWith(willing)
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, simulator, {
          env: { ...process.env, SIMULATOR_PORT: "0", SIMULATOR_CALLBACK: receiver.url },
          stdio: ["ignore", "pipe", "inherit"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    let printed = ""
    const subscribed = new Promise<void>((resolve) => {
      child.stdout.on("data", (data: Buffer) => {
        printed += data.toString()
        if (printed.includes("Verified: ")) resolve()
      })
    })
    yield* Effect.promise(() => subscribed)
    const variable = (name: string) => new RegExp(`${name}=(\\S+)`).exec(printed)?.[1]
    const url = variable("WHATSAPP_BASE_URL")!
    assert.strictEqual(variable("PROVIDER"), "whatsapp")
    for (const name of ["API_VERSION", "ACCESS_TOKEN", "PHONE_NUMBER_ID", "BUSINESS_ACCOUNT_ID", "APP_SECRET"]) {
      assert.isString(variable(`WHATSAPP_${name}`), name)
    }
    assert.strictEqual(
      new URL((yield* receiver.requests)[0]!.target, receiver.url).searchParams.get("hub.verify_token"),
      variable("WHATSAPP_VERIFY_TOKEN")
    )

    const post = (path: string, body: object) =>
      Effect.promise(async () =>
        (await fetch(`${url}${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${variable("WHATSAPP_ACCESS_TOKEN")}` },
          body: JSON.stringify(body)
        })).json()
      )
    // what would take hours is there as soon as the clock says so
    yield* post("/_sim/settings", { sentAfter: 3_600_000, deliveredAfter: 7_200_000, readAfter: null, window: false })
    yield* post(`/v25.0/${variable("WHATSAPP_PHONE_NUMBER_ID")}/messages`, plain)
    yield* post("/_sim/clock", { advance: 3_600_000 })
    yield* receiver.waitFor(2)
    yield* post("/_sim/clock", { advance: 3_600_000 })
    assert.deepStrictEqual(
      statusesOf((yield* receiver.waitFor(3)).slice(1)).map(({ status }) => status),
      ["sent", "delivered"]
    )

    const exited = once(child, "exit")
    child.kill("SIGTERM")
    assert.deepStrictEqual(yield* Effect.promise(() => exited), [0, null])
  }))
