#!/usr/bin/env node
/**
 * `wac`: the server and the operator's commands. Exits with 0, or with 1 and an error message; a command that a signal
 * interrupts exits with 128 and the number of the signal.
 *
 * This file imports the rest of the program only after it has checked Node and enabled V8's code cache: an old Node
 * gets a sentence instead of an error from a module that does not load there, and a new one starts faster.
 */
import { readFileSync } from "node:fs"
import * as module from "node:module"

const { engines }: { readonly engines: { readonly node: string } } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8")
)
const [oldest, present] = [engines.node, process.version].map((text) => /[0-9.]+/.exec(text)![0])
const isOld = present!.localeCompare(oldest!, "en", { numeric: true }) < 0

if (isOld) {
  process.stderr.write(
    `wac: needs Node ${oldest} or later; this is Node ${present}. ` +
      `\`npx -p node@24 -p @wac/server wac start\` brings one\n`
  )
  process.exitCode = 1
} else {
  module.enableCompileCache()
  await import("./YoungObjects.ts")
  const { main } = await import("./Program.ts")
  main(process.env, process.argv)
}
