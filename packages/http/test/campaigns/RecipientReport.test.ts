import { assert, describe, it } from "@effect/vitest"
import type { CheckedRow, Message } from "@wac/core"
import { parse } from "csv-parse/sync"
import { Effect, Stream } from "effect"
import * as RecipientFile from "../../src/campaigns/RecipientFile.ts"
import * as RecipientReport from "../../src/campaigns/RecipientReport.ts"

const message = (fields: object) =>
  ({
    id: "msg_1",
    content: { to: "+12025550001" },
    variant: "b",
    status: "sent",
    isHeld: false,
    sentAt: 0,
    deliveredAt: null,
    readAt: null,
    failedAt: null,
    error: null,
    ...fields
  }) as unknown as Message.Message

const written = (rows: ReadonlyArray<CheckedRow.CheckedRow>) => RecipientReport.header + RecipientReport.lines(rows)

const read = (csv: string) =>
  parse(csv, { bom: true, columns: true }) as ReadonlyArray<Readonly<Record<string, string>>>

describe("the report on recipients", () => {
  it("each row has a line with what became of its recipient", () => {
    const error = { code: "forbidden", reason: "opted_out", message: "the customer said \"no\",\nand left" }
    const [sent, skipped, malformed] = read(written([
      { place: 1, message: message({ isHeld: true }), problem: null, line: 2, value: "+15550001" },
      {
        place: 2,
        message: message({ status: "skipped", sentAt: null, error }),
        problem: null,
        line: null,
        value: null
      },
      {
        place: 3,
        message: null,
        problem: { reason: "malformed", message: "the line is not JSON" },
        line: 4,
        value: "=1+1"
      }
    ]))
    assert.deepStrictEqual(sent, {
      row: "1",
      to: "'+12025550001",
      outcome: "held",
      reason: "",
      message: "",
      message_id: "msg_1",
      sent_at: "1970-01-01T00:00:00.000Z",
      delivered_at: "",
      read_at: "",
      failed_at: "",
      variant: "b",
      line: "2",
      value: ""
    })
    assert.deepInclude(skipped, { outcome: "skipped", reason: "opted_out", message: error.message })
    assert.deepInclude(malformed, {
      to: "",
      variant: "",
      outcome: "",
      reason: "malformed",
      message: "the line is not JSON",
      line: "4",
      value: "'=1+1"
    })
    assert.strictEqual(RecipientReport.lines([]), "")
  })

  it("no value is a formula when a spreadsheet opens the file", () => {
    const formulas: ReadonlyArray<readonly [text: string, shown: string]> = [
      ["=1+1", "'=1+1"],
      ["+1", "'+1"],
      ["-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"],
      ["@SUM(A1)", "'@SUM(A1)"],
      ["\t=1", "'\t'=1"],
      ["\r=1", "'\r'=1"],
      ["\uFF1D1+1", "'\uFF1D1+1"],
      ["\uFF0B1", "'\uFF0B1"],
      ["\uFF20x", "'\uFF20x"]
    ]
    for (const [text, shown] of formulas) {
      const error = { code: "forbidden", reason: "opted_out", message: text }
      const [row] = read(
        written([{ place: 1, message: message({ status: "failed", error }), problem: null, line: null, value: null }])
      )
      assert.strictEqual(row!["message"], shown)
    }
  })

  it.effect("its numbers can be uploaded again", () =>
    Effect.gen(function*() {
      const csv = written([{ place: 1, message: message({}), problem: null, line: null, value: null }])
      const [row] = yield* Stream.runCollect(
        RecipientFile.rows(Stream.make(new TextEncoder().encode(csv)), "text/csv")
      )
      assert.strictEqual(row !== undefined && "recipient" in row ? row.recipient.to : undefined, "+12025550001")
    }))
})
