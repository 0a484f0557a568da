import { assert, describe, it } from "vitest"
import { Api } from "../src/Api.ts"
import * as OpenApiErrors from "../src/OpenApiErrors.ts"

const endpoints = Object.values(Api.groups).flatMap((group) => Object.values(group.endpoints))

const reasonsOf = (operation: string, status: number) => {
  const [method, path] = operation.split(" ")
  const endpoint = endpoints.find((one) => one.method === method && one.path === path)
  return endpoint === undefined ? assert.fail(operation) : OpenApiErrors.reasonsOf(endpoint, status)
}

describe("the errors of an operation", () => {
  it.each([
    ["POST /v1/messages/:id/read", 403, ["missing_scope", "sender_not_available", "provider_policy"]],
    ["POST /v1/messages/:id/read", 429, ["workspace", "provider"]],
    ["DELETE /v1/messages/:id", 403, ["missing_scope", "sender_not_available", "already_sent", "not_queued"]],
    ["DELETE /v1/messages/:id", 503, ["storage_unavailable", "in_progress"]],
    ["DELETE /internal/messages/:id", 403, ["role_not_allowed", "cross_site", "already_sent", "not_queued"]],
    ["POST /internal/templates", 403, ["role_not_allowed", "cross_site", "sender_not_available", "provider_policy"]],
    ["PATCH /internal/templates/:id", 403, [
      "role_not_allowed",
      "cross_site",
      "sender_not_available",
      "provider_policy",
      "template_not_found"
    ]],
    ["DELETE /internal/templates/:id", 403, [
      "role_not_allowed",
      "cross_site",
      "sender_not_available",
      "provider_policy"
    ]],
    ["PATCH /internal/templates/:id", 429, ["provider"]],
    ["POST /internal/templates/sync", 403, ["role_not_allowed", "cross_site"]],
    ["GET /v1/messages/:id", 403, ["missing_scope"]],
    ["GET /internal/customers", 400, ["missing_field", "invalid_field", "unknown_field"]],
    ["GET /internal/contacts", 400, ["invalid_field", "unknown_field"]]
  ])("%s meets with status %i exactly the reasons %j", (operation, status, reasons) => {
    assert.sameMembers([...reasonsOf(operation, status)], reasons)
  })
})
