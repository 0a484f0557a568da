#!/usr/bin/env node
/**
 * `npx @wac/checker history.jsonl`: judges a history; `-` reads it from standard input. Writes each broken promise with
 * the entries that prove it. Exits with 0 if every promise was kept, 1 if not, and 2 if the history cannot be read.
 */
import { readFileSync } from "node:fs"
import { check } from "./Check.ts"
import { type History, parse } from "./History.ts"
import { promises } from "./Promises.ts"

const [file, ...more] = process.argv.slice(2)

const read = (): History | undefined => {
  if (file === undefined || more.length > 0) {
    console.error("usage: wac-checker history.jsonl")
    return undefined
  }
  try {
    return parse(readFileSync(file === "-" ? 0 : file, "utf8"))
  } catch (error) {
    console.error(`${file}: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}

const history = read()
if (history === undefined) process.exitCode = 2
else {
  const { broken, ok } = check(history)
  for (const { evidence, found, promise, section } of broken) {
    console.log(`${promise} (contract §${section}): ${found}\n  ${promises[promise].says}`)
    for (const entry of evidence) console.log(`  ${JSON.stringify(entry)}`)
  }
  console.log(`${history.entries.length} entries, ${ok ? "every promise kept" : `${broken.length} broken promises`}`)
  if (!ok) process.exitCode = 1
}
