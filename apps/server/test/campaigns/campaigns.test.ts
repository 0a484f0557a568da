/**
 * Campaigns over HTTP (contract §11): from a file of recipients to the event that it is done.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call } from "../harness.ts"

const customer = (n: number) => `+1202555${String(n).padStart(4, "0")}`

/** Creates a campaign of the sandbox's template without values. */
const create = (fields: { readonly [name: string]: unknown } = {}) =>
  Effect.gen(function*() {
    const { session, url } = yield* checks.Served
    const created = yield* call(`${url}/internal/campaigns`, {
      headers: session,
      body: { name: "Everyone", template: { name: "hello_world", language: "en_US" }, share: 0.9, ...fields }
    })
    assert.strictEqual(created.status, 201, created.text)
    const at = `${url}/internal/campaigns/${created.body.id}`
    const upload = (body: string, type = "application/x-ndjson") =>
      call(`${at}/recipients`, { method: "PUT", headers: { ...session, "content-type": type }, body })
    const act = (verb: string) => call(`${at}/${verb}`, { method: "POST", headers: session })
    const get = call(at, { headers: session })
    const until = (status: string) => checks.until(get, ({ body }) => body.status === status)
    return { id: created.body.id as string, at, upload, act, get, until, session }
  })

/** The id of no campaign. */
const unknown = "cmp_00000000000000000000000000"

const lines = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => `{"to":"${customer(from + n)}"}\n`).join("")

layer(checks.Served.layer({ environment: checks.unlimited }), checks.live)("campaigns", (it) => {
  it.effect("a campaign goes from its files to its completion, each customer once", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      const { act, at, get, id, session, until, upload } = yield* create()
      assert.strictEqual((yield* upload(lines(40))).body.rows, 40)
      const csv = `to,name\n${customer(0)},again\n${customer(40)},new\nnobody,x\n`
      assert.strictEqual((yield* upload(csv, "text/csv; charset=utf-8")).body.rows, 43)
      checks.assertError(yield* act("start"), 403, { code: "forbidden", reason: "campaign_state" })
      assert.strictEqual((yield* act("check")).body.status, "checking")
      const ready = yield* until("ready")
      assert.deepInclude(ready.body, { rows: 43, checked: 43, problems: 2 })
      assert.deepInclude(ready.body.counts, { total: 41, queued: 41 })
      const rows = yield* call(`${at}/recipients?limit=100`, { headers: session })
      assert.deepStrictEqual(
        rows.body.data.slice(40).map(({ problem, row, to }: (typeof rows)["body"]) => [row, problem?.reason, to]),
        [[41, "duplicate", null], [42, undefined, customer(40)], [43, "malformed", null]]
      )
      assert.strictEqual((yield* act("start")).body.status, "running")
      const done = yield* until("completed")
      assert.deepInclude(done.body.counts, { total: 41, queued: 0, skipped: 0 })
      assert.isNotNull(done.body.completedAt)
      const event = yield* checks.until(
        call(`${url}/internal/events?type=campaign.completed`, { headers: session }),
        ({ body }) => body.data.length > 0
      )
      assert.deepInclude(event.body.data[0].data, { campaign_id: id, name: "Everyone", status: "completed", total: 41 })
      const again = yield* act("cancel")
      checks.assertError(again, 403, { code: "forbidden", reason: "campaign_state" })
      assert.strictEqual((yield* get).body.status, "completed")
    }))

  it.effect("customers on an imported list of opt-outs are reported by the check of a marketing campaign, and get nothing", () =>
    Effect.gen(function*() {
      const { session, url } = yield* checks.Served
      const [one, other] = [customer(9001), customer(9002)]
      const imported = yield* call(`${url}/internal/suppressions`, {
        method: "PUT",
        headers: { ...session, "content-type": "text/csv" },
        body: `name\n${one}\n`
      })
      assert.strictEqual(imported.body.added, 1)
      const { act, at, until, upload } = yield* create({
        template: { name: "promo", language: "en_US", bodyParams: ["20 %"] }
      })
      yield* upload(`{"to":"${one}"}\n{"to":"${other}"}\n`)
      yield* act("check")
      const ready = yield* until("ready")
      assert.deepInclude(ready.body, { checked: 2, problems: 1 })
      assert.deepInclude(ready.body.counts, { total: 1, queued: 1 })
      const rows = yield* call(`${at}/recipients?reason=opted_out`, { headers: session })
      assert.deepStrictEqual(
        rows.body.data.map(({ problem }: (typeof rows)["body"]) => [problem.value, problem.reason]),
        [[one, "opted_out"]]
      )
      yield* act("start")
      const done = yield* until("completed")
      assert.deepInclude(done.body.counts, { total: 1, skipped: 0, failed: 0 })
    }))

  it.effect("recipients are listed page by page, and can be filtered by outcome", () =>
    Effect.gen(function*() {
      const { act, at, session, until, upload } = yield* create()
      yield* upload(lines(7, 100))
      yield* act("check")
      yield* until("ready")
      const seen: Array<number> = []
      let cursor: string | null = ""
      while (cursor !== null) {
        const page: Effect.Success<ReturnType<typeof call>> = yield* call(
          `${at}/recipients?limit=3&outcome=queued${cursor === "" ? "" : `&cursor=${cursor}`}`,
          { headers: session }
        )
        seen.push(...page.body.data.map(({ row }: { readonly row: number }) => row))
        cursor = page.body.nextCursor
      }
      assert.deepStrictEqual(seen, [1, 2, 3, 4, 5, 6, 7])
      const none = yield* call(`${at}/recipients?outcome=sent`, { headers: session })
      assert.deepStrictEqual(none.body.data, [])
    }))

  it.effect("the cursor of one campaign's recipients is refused for another campaign", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* create(), yield* create()]
      for (const { upload } of [one, other]) yield* upload(lines(2, 100))
      const { body } = yield* call(`${one.at}/recipients?limit=1`, { headers: one.session })
      const rest = yield* call(`${one.at}/recipients?cursor=${body.nextCursor}`, { headers: one.session })
      assert.deepStrictEqual(rest.body.data.map(({ row }: { readonly row: number }) => row), [2])
      const refused = yield* call(`${other.at}/recipients?cursor=${body.nextCursor}`, { headers: other.session })
      checks.assertInvalid(refused, "invalid_field", "cursor")
    }))

  it.effect("filtered pages contain every matching row exactly once", () =>
    Effect.gen(function*() {
      const { act, at, session, until, upload } = yield* create()
      // every hundredth row is no recipient
      const rows = Array.from({ length: 2500 }, (_, i) => i % 100 === 99 ? "{}" : lines(1, i).trim())
      yield* upload(rows.join("\n"))
      yield* act("check")
      yield* until("ready")
      const seen: Array<number> = []
      let cursor: string | null = ""
      while (cursor !== null) {
        const page: Effect.Success<ReturnType<typeof call>> = yield* call(
          `${at}/recipients?limit=10&outcome=left_out${cursor === "" ? "" : `&cursor=${cursor}`}`,
          { headers: session }
        )
        assert.isAbove(page.body.data.length, 0)
        for (const { problem, row } of page.body.data) {
          assert.strictEqual(problem.reason, "malformed")
          seen.push(row)
        }
        cursor = page.body.nextCursor
      }
      assert.deepStrictEqual(seen, Array.from({ length: 25 }, (_, i) => 100 * (i + 1)))
    }))

  it.effect("the first page of rows with a problem has the first of them, however many rows come before", () =>
    Effect.gen(function*() {
      const { act, at, session, until, upload } = yield* create()
      // further than a page looks
      const count = 10_010
      const users = Array.from({ length: count }, (_, n) => `{"to":"US.${n + 1000}"}`)
      yield* upload([...users, "{}", users[0], "{}"].join("\n"))
      yield* act("check")
      yield* until("ready")
      const page = (query: string) =>
        Effect.map(
          call(`${at}/recipients?outcome=left_out${query}`, { headers: session }),
          ({ body }) => [body.data.map(({ row }: Answer["body"]) => row), body.nextCursor]
        )
      assert.deepStrictEqual(yield* page(""), [[count + 1, count + 2, count + 3], null])
      assert.deepStrictEqual(yield* page("&reason=duplicate"), [[count + 2], null])
      assert.deepStrictEqual(yield* page("&reason=opted_out"), [[], null])
    }))

  it.effect("the report is a file of all recipients or of those with an outcome or a reason", () =>
    Effect.gen(function*() {
      const { act, at, session, until, upload } = yield* create()
      yield* upload(lines(1200, 200) + lines(2, 200))
      yield* act("check")
      yield* until("ready")
      const report = (query = "") =>
        Effect.map(
          call(`${at}/recipients${query}`, { headers: { ...session, accept: "text/csv" } }),
          ({ headers, text }) => ({ headers, rows: text.trimEnd().split("\n").slice(1) })
        )
      const { headers, rows } = yield* report()
      assert.strictEqual(headers.get("content-type"), "text/csv; charset=utf-8")
      assert.match(headers.get("content-disposition") ?? "", /^attachment; filename="cmp_\w+\.csv"$/)
      assert.strictEqual(rows.length, 1202)
      assert.match(rows[0]!, new RegExp(`^1,'\\${customer(200)},queued,,,msg_`))
      assert.lengthOf((yield* report("?outcome=queued")).rows, 1200)
      assert.deepStrictEqual(
        (yield* report("?reason=duplicate")).rows.map((line) => line.split(",").slice(0, 4)),
        [["1201", "", "", "duplicate"], ["1202", "", "", "duplicate"]]
      )
      const missing = yield* call(`${at.replace(/cmp_.*/, `cmp_${checks.nobody}`)}/recipients`, {
        headers: { ...session, accept: "text/csv" }
      })
      checks.assertError(missing, 404, { code: "not_found" })
    }))

  it.effect("a campaign that is not started takes another file and another template, and stays as it was if a file is refused", () =>
    Effect.gen(function*() {
      const { act, at, get, session, until, upload } = yield* create()
      yield* upload(`to,name,order\n${customer(3000)},Ana,1\n${customer(3001)},Ben,2\n`, "text/csv")
      yield* act("check")
      const { body: ready } = yield* until("ready")
      const put = (file: string, query: string) =>
        call(`${at}/recipients?${query}`, {
          method: "PUT",
          headers: { ...session, "content-type": "text/csv" },
          body: file
        })
      checks.assertError(yield* put("Phone\n1\n", "replace=true"), 400, {
        code: "invalid_body",
        reason: "invalid_field"
      })
      checks.assertError(yield* put("to\n1\n", "defaultCountry=ZZ"), 400, {
        code: "invalid_body",
        reason: "invalid_field",
        param: "defaultCountry"
      })
      assert.deepStrictEqual((yield* get).body, ready)
      const file = "Phone;Name\r\n(202) 555-0143;Ana\r\n2025550143;Ann\r\n1.20255E+10;Ben\r\n"
      const replaced = yield* put(file, "replace=true&defaultCountry=US&toColumn=Phone")
      assert.strictEqual(replaced.status, 200, replaced.text)
      assert.deepInclude(replaced.body, { status: "draft", rows: 3, checked: 0, problems: 0, forecast: null })
      assert.strictEqual(replaced.body.counts.total, 0)
      const template = { name: "order_update", language: "en_US", bodyParams: ["{{Name}}", "1042"] }
      const edited = yield* call(at, { method: "PATCH", headers: session, body: { name: "Others", template } })
      assert.deepInclude(edited.body, { name: "Others", template, rows: 3 })
      yield* act("check")
      assert.deepInclude((yield* until("ready")).body, { rows: 3, problems: 2 })
      const { text } = yield* call(`${at}/recipients`, { headers: { ...session, accept: "text/csv" } })
      assert.deepStrictEqual(
        text.trimEnd().split("\n").slice(1).map((line) => [line.split(",")[0], line.split(",").slice(-2).join()]),
        [["1", "2,"], ["2", "3,2025550143"], ["3", "4,1.20255E+10"]]
      )
    }))

  it.effect("the problems of a check are counted by reason and message, each with the lines and values of its first rows", () =>
    Effect.gen(function*() {
      const { act, at, session, until, upload } = yield* create({
        template: { name: "order_update", language: "en_US", bodyParams: ["{{name}}", "1042"] }
      })
      const problems = call(`${at}/problems`, { headers: session })
      assert.deepStrictEqual((yield* problems).body, { rows: 0, reasons: [], uncounted: 0 })
      const file = [
        "to,name",
        `${customer(5000)},Ana`,
        "1.20255E+10,Ben",
        `${customer(5001)},`,
        ...Array.from({ length: 7 }, () => `${customer(5000)},Ana`),
        "nobody,Eve",
        `${customer(5002)},`
      ]
      yield* upload(file.join("\n"), "text/csv")
      yield* act("check")
      const { body: ready } = yield* until("ready")
      assert.deepInclude(ready, { rows: 12, problems: 11 })
      const { body } = yield* problems
      assert.deepInclude(body, { rows: 11, uncounted: 0 })
      assert.deepStrictEqual(
        body.reasons.map(({ messages, reason, rows }: Answer["body"]) => [
          reason,
          rows,
          messages.map(({ rows }: Answer["body"]) => rows)
        ]),
        [["duplicate", 7, [7]], ["malformed", 2, [1, 1]], ["template_params_mismatch", 2, [2]]]
      )
      const [duplicate, malformed, mismatch] = body.reasons
      assert.deepStrictEqual(
        duplicate.messages[0].examples,
        [4, 5, 6, 7, 8].map((row) => ({ row, line: row + 1, value: customer(5000) }))
      )
      assert.deepStrictEqual(
        malformed.messages.flatMap(({ examples }: Answer["body"]) => examples),
        [{ row: 2, line: 3, value: "1.20255E+10" }, { row: 11, line: 12, value: "nobody" }]
      )
      assert.deepStrictEqual(mismatch.messages, [{
        message: "variables.name is required by the template's values",
        rows: 2,
        examples: [{ row: 3, line: 4, value: customer(5001) }, { row: 12, line: 13, value: customer(5002) }]
      }])
      const listed = yield* call(`${at}/recipients?outcome=left_out&reason=malformed`, { headers: session })
      assert.deepStrictEqual(listed.body.data.map(({ row }: Answer["body"]) => row), [2, 11])
      const missing = yield* call(`${at.replace(/[^/]*$/, unknown)}/problems`, { headers: session })
      assert.strictEqual(missing.status, 404, missing.text)
    }))

  it.effect("the timeline has the messages that the counts have, at their times, and none before the first is sent", () =>
    Effect.gen(function*() {
      const { act, at, get, session, until, upload } = yield* create()
      const timeline = (query = "") => call(`${at}/timeline${query}`, { headers: session })
      yield* upload(lines(5))
      yield* act("check")
      yield* until("ready")
      assert.deepStrictEqual((yield* timeline()).body, { stepSeconds: 60, steps: [] })
      yield* act("start")
      yield* until("completed")
      yield* checks.until(get, ({ body }) => body.counts.read === 5)
      const { body } = yield* timeline()
      const sum = (stage: "sent" | "delivered" | "read") =>
        body.steps.reduce((sum: number, step: { readonly [stage: string]: number }) => sum + step[stage]!, 0)
      assert.deepStrictEqual([sum("sent"), sum("delivered"), sum("read")], [5, 5, 5])
      assert.strictEqual(Date.parse(body.steps[0].at) % (body.stepSeconds * 1000), 0)
      assert.deepStrictEqual((yield* timeline("?period=day")).body, body)
      assert.strictEqual((yield* timeline("?period=year")).status, 400)
      const missing = yield* call(`${at.replace(/[^/]*$/, unknown)}/timeline`, { headers: session })
      assert.strictEqual(missing.status, 404, missing.text)
    }))

  it.effect("two variants of a template are compared with an interval, and each row names its variant", () =>
    Effect.gen(function*() {
      const templateB = { name: "order_update", language: "en_US", bodyParams: ["{{name}}", "1042"] }
      const { act, at, get, session, until, upload } = yield* create({ templateB })
      const count = 40
      const rows = Array.from({ length: count }, (_, n) => `${customer(2000 + n)},Ana`)
      yield* upload(["to,name", ...rows].join("\n"), "text/csv")
      yield* act("check")
      const { body: ready } = yield* until("ready")
      assert.deepStrictEqual(ready.templateB, templateB)
      assert.deepInclude(ready.comparison, { delivered: null, read: null })
      yield* act("start")
      const frozen = yield* call(at, { method: "PATCH", headers: session, body: { templateB: null } })
      checks.assertError(frozen, 403, { code: "forbidden", reason: "campaign_state" })
      const { body: { comparison, counts } } = yield* checks.until(
        get,
        ({ body: { counts } }) => counts.delivered + counts.read === count
      )
      const { a, b } = comparison.counts
      assert.deepStrictEqual([a.total + b.total, a.read + b.read], [count, counts.read])
      assert.deepInclude(comparison.delivered, { a: 1, b: 1, difference: 0, isDistinguishable: false })
      assert.isBelow(comparison.delivered.low, 0)
      assert.isAbove(comparison.delivered.high, 0)
      const listed = yield* call(`${at}/recipients?limit=100`, { headers: session })
      const ofB = listed.body.data.filter(({ variant }: { readonly variant: string }) => variant === "b")
      assert.strictEqual(ofB.length, b.total)
      const report = yield* call(`${at}/recipients`, { headers: { ...session, accept: "text/csv" } })
      assert.lengthOf(report.text.split("\n").filter((line) => line.includes(",b,")), b.total)
    }))

  it.effect("a file of another type, or one that cannot be read, is refused, and what came before it stays", () =>
    Effect.gen(function*() {
      const { get, upload } = yield* create()
      checks.assertError(yield* upload("[]", "application/json"), 415, {
        code: "invalid_body",
        reason: "unsupported_media_type",
        param: "Content-Type"
      })
      checks.assertError(yield* upload("name\nAda\n", "text/csv"), 400, {
        code: "invalid_body",
        reason: "invalid_field"
      })
      checks.assertError(yield* upload(`${lines(1)}{"to":"${"1".repeat(100_000)}`), 413, {
        code: "invalid_body",
        reason: "too_large"
      })
      assert.isAtMost((yield* get).body.rows, 1)
    }))

  it.effect("a campaign that has not started can be changed and deleted", () =>
    Effect.gen(function*() {
      const { at, session, upload } = yield* create({ startAt: checks.timeIn(3_600_000) })
      yield* upload(lines(1))
      const edited = yield* call(at, { method: "PATCH", headers: session, body: { name: "Some", startAt: null } })
      assert.deepInclude(edited.body, { name: "Some", startAt: null, status: "draft" })
      assert.strictEqual((yield* call(at, { method: "DELETE", headers: session })).status, 204)
      checks.assertError(yield* call(at, { headers: session }), 404, { code: "not_found" })
    }))
})
