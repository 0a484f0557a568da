/**
 * The command, its format and its README.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"
import { HistoryError, parse, print } from "../src/History.ts"
import { promises } from "../src/Promises.ts"
import { call, history } from "./entries.ts"

const root = join(import.meta.dirname, "..")

const judged = (input: string, ...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(root, "src/checker.ts"), ...args], {
    input,
    encoding: "utf8"
  })
  return { status, stderr, stdout }
}

it("the command ends with 0 if every promise was kept", () => {
  assert.deepStrictEqual(judged(print(history(call(1))), "-"), {
    status: 0,
    stderr: "",
    stdout: "1 entries, every promise kept\n"
  })
})

it("the command writes a broken promise with its section and its evidence, and ends with 1", () => {
  const { status, stdout } = judged(print(history(call(1), call(5))), "-")
  assert.strictEqual(status, 1)
  assert.strictEqual(
    stdout,
    `one-provider-call (contract §3): accepted, besides a call that was accepted
  ${promises["one-provider-call"].says}
  ${JSON.stringify(call(1))}
  ${JSON.stringify(call(5))}
2 entries, 1 broken promises
`
  )
})

it("the command ends with 2 if it has no history to read", () => {
  assert.strictEqual(judged("").status, 2)
  const { status, stderr } = judged("{}", "-")
  assert.deepStrictEqual([status, stderr], [2, "-: line 1: format is missing or invalid\n"])
})

it.each([
  ["", 1, "the header is missing"],
  ["{", 1, "not JSON"],
  [`\n{"format":"wac-history","version":2}`, 2, "version is missing or invalid"],
  [`{"format":"wac-history","version":1}\n[]`, 2, "not an object"],
  [`{"format":"wac-history","version":1}\n\n{"kind":"toString"}`, 3, "the kind toString is unknown"],
  [
    `{"format":"wac-history","version":1}\n{"kind":"read","begun":2,"ended":1,"process":"p"}`,
    2,
    "message_id is missing"
  ],
  [
    `{"format":"wac-history","version":1}\n{"kind":"read","begun":2,"ended":1,"process":"p","message_id":"m","status":""}`,
    2,
    "ended is before begun"
  ]
])("a text that is not a history is refused with its first wrong line: %j", (text, line, problem) => {
  try {
    parse(text)
  } catch (error) {
    assert.instanceOf(error, HistoryError)
    assert.strictEqual((error as HistoryError).line, line)
    assert.include((error as HistoryError).message, problem)
    return
  }
  assert.fail("it was read")
})

it("the README lists every promise, as the code has it", () => {
  const rows = [
    ...readFileSync(join(root, "README.md"), "utf8").matchAll(/^\| `([a-z-]+)` +\| §(\d+) +\| (.+?) +\|$/gm)
  ]
  assert.deepStrictEqual(
    rows.map(([, name, section, says]) => [name, { section: Number(section), says }]),
    Object.entries(promises)
  )
})
