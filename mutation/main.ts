/**
 * The command line: `npm run mutate -- messages webhooks`. Changes core's decisions one place at a time, in the files
 * whose path contains one of the words (all without a word), and prints which changes the tests notice. The exit code is
 * 1 if they notice too few.
 */
import { projects } from "../vitest.workspace.ts"
import * as Decisions from "./Decisions.ts"
import * as Report from "./Report.ts"
import * as Trial from "./Trial.ts"

const words = process.argv.slice(2)
const files = Decisions.files.filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
if (files.length === 0) throw new Error(`no decision has a path with ${words.join(" or ")}`)

const judging = Decisions.projects.flatMap((name) => projects.filter(({ test }) => test?.name === name))
const verdicts = await Trial.judge(Trial.read(files), judging)
process.stdout.write(Report.of(verdicts))
if (Report.figures(verdicts).score < Decisions.minimum) process.exitCode = 1
