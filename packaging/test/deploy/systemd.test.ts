/**
 * The systemd unit.
 */
import * as Program from "@wac/testbed/Program"
import { execFile } from "node:child_process"
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it, onTestFinished } from "vitest"
import { root } from "../../Published.ts"
import * as Secrets from "./Secrets.ts"

const run = promisify(execFile)
const needed = Program.needed({
  programs: [["systemd-analyze", "--version"]],
  untested: "the systemd unit",
  install: "apt-get install systemd"
})
const unit = join(root, "deploy/systemd/wac.service")

describe("the systemd unit", () => {
  it("the unit starts the published command, and gives it enough time to stop", () => {
    const text = readFileSync(unit, "utf8")
    assert.match(text, /^ExecStart=\/opt\/wac\/current\/node_modules\/\.bin\/wac start$/m)
    assert.isAtLeast(Number(/^TimeoutStopSec=(\d+)s$/m.exec(text)![1]), 11)
  })

  it("the unit lets the server see which boot a lock of its data is from, and start as often as it takes", () => {
    const text = readFileSync(unit, "utf8")
    // the boot's id is in /proc/sys
    assert.notMatch(text, /^ProcSubset=/m)
    assert.match(text, /^StartLimitIntervalSec=0$/m)
  })

  it(
    "the server gets its secrets as credentials, from the files that the unit's comment makes",
    Secrets.needed,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "wac-unit-"))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const text = readFileSync(unit, "utf8")
      const commands = [...text.matchAll(/^#   (.*)$/gm)].map(([, command]) => command!.replaceAll("/etc/wac", folder))
      await run("sh", ["-euc", commands.join("\n")])
      const credentials = new Map(
        [...text.matchAll(/^LoadCredential=(\S+):(\S+)$/gm)].map(([, id, path]) => [id, path!])
      )
      const variables = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line]) =>
        line!.split(" ").map((pair) => pair.split(/=(.*)/s).slice(0, 2) as [string, string])
      )
      const found = await Secrets.read(Object.fromEntries(variables), (path) => {
        const [, id] = /^%d\/(.*)$/.exec(path)!
        const file = credentials.get(id)!.replace("/etc/wac", folder)
        assert.strictEqual(statSync(file).mode & 0o777, 0o600)
        return file
      })
      assert.strictEqual(found.database, "Embedded")
    }
  )

  it("the guide's commands run as the unit's server does: its program, user, files, variables and secrets", async () => {
    const text = readFileSync(unit, "utf8")
    const guide = readFileSync(join(root, "docs/guides/operating.md"), "utf8")
    const [block] = [...guide.matchAll(/^```sh[^\n]*\n(.*?)^```$/gms)]
      .flatMap(([, code]) => code!.includes("systemd-run") ? [code!] : [])
    const lines = [...text.matchAll(/^(?:LoadCredential|EnvironmentFile|DynamicUser|StateDirectory\w*|UMask)=.*$/gm)]
    assert.isAtLeast(lines.length, 7)
    for (const [line] of lines) assert.include(block, `-p ${line} `)
    // a unit of another name has another user
    assert.include(block, "-p User=wac ")

    const folder = mkdtempSync(join(tmpdir(), "wac-unit-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const program = (name: string, lines: string) => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${lines}\n`)
      chmodSync(join(folder, name), 0o755)
    }
    // stands in for systemd, which gives the program its credentials
    program("systemd-run", `while [ "$1" != sh ]; do shift; done\nCREDENTIALS_DIRECTORY=%d exec "$@"`)
    program("wac", `echo "$@"\nenv`)
    const [, started] = /^ExecStart=(\S+) start$/m.exec(text)!
    assert.include(block, `exec ${started} `)
    const { stdout } = await run("sh", ["-euc", block!.replace(started!, join(folder, "wac"))], {
      env: { PATH: `${folder}:${process.env["PATH"]}` }
    })
    const [said, ...variables] = stdout.split("\n")
    assert.strictEqual(said, "doctor")
    const files = [...text.matchAll(/\w+_FILE=%d\S+/g)].map(([variable]) => variable)
    assert.isNotEmpty(files)
    assert.includeMembers(variables, files)
  })

  it("systemd-analyze finds nothing wrong with it", needed, async () => {
    const folder = mkdtempSync(join(tmpdir(), "wac-unit-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const copy = join(folder, "wac.service")
    // a program that this machine has
    writeFileSync(copy, readFileSync(unit, "utf8").replace(/^ExecStart=\S+/m, "ExecStart=/bin/true"))
    const { stderr, stdout } = await run("systemd-analyze", ["verify", "--man=no", copy])
    assert.strictEqual(stdout + stderr, "")
  })

  it("systemd-analyze rates its exposure at most 2.0 of 10", needed, async () => {
    await run("systemd-analyze", ["security", "--offline=true", "--no-pager", "--threshold=20", unit])
  })
})
