import { assert, describe, it } from "@effect/vitest"
import type { ErrorBody } from "../../src/ErrorBody.ts"
import { items } from "../../src/ErrorReference.ts"
import * as McpAnswer from "../../src/mcp/McpAnswer.ts"

const bodyOf = (code: ErrorBody["error"]["code"], reason?: string): ErrorBody => ({
  error: {
    code,
    message: "what happened",
    ...(reason === undefined ? {} : { reason }),
    request_id: "req_1",
    doc_url: "/docs"
  }
})

const saidOf = ({ structuredContent }: McpAnswer.Result) =>
  (structuredContent as {
    readonly error: ErrorBody["error"] & { readonly what_to_do: string; readonly retry_after_seconds?: number }
  }).error

describe("the result of a call", () => {
  it("every error of the reference says what to do, and one of a send that names the header says what it is made of", () => {
    for (const { code, entry, reason } of items) {
      const { what_to_do } = saidOf(McpAnswer.failed(bodyOf(code, reason), { sends: true }))
      if (code !== "idempotency_conflict") assert.include(what_to_do, entry.remedy)
      if (what_to_do.includes("Idempotency-Key")) assert.include(what_to_do, "`intent`", `${code} ${reason}`)
    }
  })

  it("an error keeps the fields of the API, and has the wait if there is one", () => {
    const failed = McpAnswer.failed(bodyOf("rate_limited", "pair"), { sends: true, retryAfter: "6" })
    assert.isTrue(failed.isError)
    assert.deepInclude(saidOf(failed), {
      code: "rate_limited",
      reason: "pair",
      message: "what happened",
      request_id: "req_1",
      retry_after_seconds: 6
    })
    assert.deepStrictEqual(JSON.parse(failed.content[0].text), failed.structuredContent)
  })

  it("an error that the reference does not know is not to be repeated", () => {
    assert.include(
      saidOf(McpAnswer.failed(bodyOf("forbidden", "new_reason"), { sends: false })).what_to_do,
      "Do not repeat"
    )
  })

  it("only the result of a send says whether it had been sent before", () => {
    const body = { status: "sent" }
    assert.deepStrictEqual(McpAnswer.succeeded(body, { sends: true, replayed: true }).structuredContent, {
      ...body,
      already_sent: true
    })
    assert.deepStrictEqual(McpAnswer.succeeded(body, { sends: false, replayed: false }).structuredContent, body)
  })
})
