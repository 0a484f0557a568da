import { assert, describe, it } from "@effect/vitest"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import { problemOf } from "../src/SqlFailure.ts"

const failure = (code: string, message: string): SqlError =>
  new SqlError({
    reason: new UnknownError({ cause: Object.assign(new Error(message), { code }), operation: "connect" })
  })

describe("why a database cannot be written", () => {
  it("a session that cannot begin because the server cannot write its init file is a trouble of the files", () => {
    assert.strictEqual(problemOf(failure("XX000", "could not write init file")), "io_error")
  })

  it("another internal error of the server names no trouble of the files", () => {
    assert.isUndefined(problemOf(failure("XX000", "cache lookup failed for relation 1")))
  })

  it("a full disk is named by its code", () => {
    assert.strictEqual(problemOf(failure("53100", "could not extend file")), "disk_full")
  })
})
