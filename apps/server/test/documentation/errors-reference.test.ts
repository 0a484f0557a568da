/**
 * The reference of errors: complete, the same in `docs/errors.md` and on the page that is served, and true of retries.
 *
 * `npx vitest run --project server errors-reference -u` rewrites `docs/errors.md`.
 */
import { assert, describe, expect, it, layer } from "@effect/vitest"
import { ErrorAddress, ErrorBody, ErrorReference } from "@wac/api"
import { type ErrorReason, isRetryable, WacError } from "@wac/client"
import { Errors } from "@wac/core"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import * as checks from "../checks.ts"
import { call, start } from "../harness.ts"

const section = (item: ErrorReference.Item): string =>
  [
    ...(item.reason === undefined ? [] : [`### ${ErrorReference.anchorOf(item)}`]),
    `Status ${item.status}. ${item.entry.when}`,
    item.entry.remedy,
    `_Again?_ ${item.entry.retry}`
  ].join("\n\n")

const markdown = [
  "# Errors",
  "The body of every error is " +
  "`{\"error\":{\"code\",\"message\",\"reason\"?,\"param\"?,\"request_id\",\"doc_url\",\"provider\"?:{\"code\",\"message\"}}}`. Rely " +
  "on `code` and `reason`, which are stable; `message` is for people. `doc_url` links to the explanation of the " +
  "error on this page, which every server serves at `/docs/errors#<code>-<reason>`.",
  "Responses with status 429 or 503 carry `Retry-After`, in seconds. [@wac/client](../packages/client/README.md) " +
  "retries automatically as described here.",
  ...Object.entries(ErrorReference.meanings).flatMap(([code, meaning]) => [
    `## ${code}`,
    meaning,
    ...ErrorReference.items.filter((item) => item.code === code).map(section)
  ])
].join("\n\n") + "\n"

/** Every pair of code and reason that an error can have, as its schema says. */
const known: ReadonlyArray<string> = [
  ...Errors.InvalidBody.fields.reason.literals.map((reason) => `invalid_body-${reason}`),
  ...Errors.Unauthorized.fields.reason.literals.map((reason) => `unauthorized-${reason}`),
  ...Errors.Forbidden.fields.reason.literals.map((reason) => `forbidden-${reason}`),
  `idempotency_conflict-${Errors.IdempotencyConflict.fields.reason.literal}`,
  ...Errors.RateLimited.fields.reason.literals.map((reason) => `rate_limited-${reason}`),
  ...Errors.ServerError.fields.reason.literals.map((reason) => `server_error-${reason}`),
  "not_found",
  "not_found-media_expired"
]

describe("the reference of errors", () => {
  it("the reference describes exactly the codes and reasons that exist", () => {
    assert.deepStrictEqual(
      ErrorReference.items.map(ErrorReference.anchorOf).sort(),
      [...known].sort()
    )
  })

  it("the contract's table of errors has exactly the reasons that exist", () => {
    const contract = readFileSync(new URL("../../../../docs/contract.md", import.meta.url), "utf8")
    const [section] = /^## 2\. Errors$.*?^## /ms.exec(contract)!
    const rows = [...section!.matchAll(/^\| `(\w+)` +\|[^|]*\|([^|]*)\|$/gm)]
    const reasons = rows.flatMap(([, code, cell]) =>
      [...cell!.replaceAll(/\([^)]*\)/g, "").matchAll(/`(\w+)`/g)].map(([, reason]) => `${code}-${reason}`)
    )
    assert.sameMembers(reasons, known.filter((pair) => pair !== "not_found"))
  })

  it("the reference describes retries as the client performs them", () => {
    for (const { code, entry, reason, status } of ErrorReference.items) {
      const error = new WacError(entry.example.message, { code, status, reason: reason as ErrorReason | undefined })
      const says = entry.retry.startsWith("Yes") && status >= 429
      assert.strictEqual(isRetryable(error), says, `${code} ${reason}`)
    }
  })

  it("the reference equals docs/errors.md", async () => {
    await expect(markdown).toMatchFileSnapshot("../../../../docs/errors.md")
  })
})

layer(checks.Served.layer(), checks.live)("the page of errors", (it) => {
  it.effect("the page of errors has an anchor for each error", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      const answer = yield* call(`${url}/docs/errors`)
      assert.strictEqual(answer.status, 200)
      checks.assertHeaders(answer)
      assert.match(answer.headers.get("content-type")!, /^text\/html/)
      const anchors = [...answer.text.matchAll(/ id="([^"]+)"/g)].map(([, anchor]) => anchor!)
      assert.strictEqual(new Set(anchors).size, anchors.length)
      assert.includeMembers(anchors, ErrorReference.items.map(ErrorReference.anchorOf))
      assert.notMatch(answer.text, /`|\]\(/)
    }))

  it.effect("every error's doc_url leads to its section of the page", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      const page = ErrorAddress.pageOf(new URL(url), "")
      const { text } = yield* call(page)
      for (const { code, reason, status } of ErrorReference.items) {
        const error = ErrorBody.bodyOf({ code, reason, message: "" } as Errors.DomainError, "req_0", page)
        const [address, anchor] = error.error.doc_url.split("#")
        assert.strictEqual(address, `${url}/docs/errors`)
        const section = text.split(` id="${anchor}"`)[1] ?? ""
        assert.match(section, new RegExp(`^[^]{0,200}Status ${status}\\.`), error.error.doc_url)
      }
    }))

  it.effect("a response's doc_url uses the service's public address", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      const own = yield* call(`${url}/v1/templates`)
      assert.strictEqual(own.body.error.doc_url, `${url}/docs/errors#unauthorized-missing_key`)
      assert.strictEqual((yield* call(own.body.error.doc_url)).status, 200)
      const unknown = yield* call(`${url}/nowhere`)
      assert.strictEqual(unknown.body.error.doc_url, `${url}/docs/errors#not_found`)
      const behind = yield* start({ environment: { PUBLIC_URL: "https://chat.example.com/wac/" } })
      assert.strictEqual(
        (yield* call(`${behind.url}/v1/templates`)).body.error.doc_url,
        "https://chat.example.com/wac/docs/errors#unauthorized-missing_key"
      )
    }))
})

describe("the address of an error", () => {
  it("an error's address contains the host's mount path exactly once", () => {
    const page = (publicUrl: string, mount: string) => ErrorAddress.pageOf(new URL(publicUrl), mount)
    assert.strictEqual(page("https://a.example", ""), "https://a.example/docs/errors")
    assert.strictEqual(page("https://a.example", "/messaging"), "https://a.example/messaging/docs/errors")
    assert.strictEqual(page("https://a.example/messaging/", "/messaging"), "https://a.example/messaging/docs/errors")
    // a host that does not say where it is: relative to what was asked
    assert.strictEqual(page("https://unknown.invalid", "/messaging"), "/messaging/docs/errors")
  })
})
