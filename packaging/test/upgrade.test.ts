/**
 * The upgrade of a server that npm installed, by the commands of the upgrade guide, word for word: npm takes the
 * packages by their names from a registry on loopback. That a new version's schema works with the old version's process
 * is held by `apps/server/test/running/upgrade.test.ts`.
 */
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import * as tar from "tar"
import { assert, inject, it, onTestFinished } from "vitest"
import { packInstalled, tarballOf } from "../Packed.ts"
import { manifestOf, root, server } from "../Published.ts"
import * as PackedServer from "./PackedServer.ts"
import * as Registry from "./Registry.ts"

/** Blocks of the guide, by the place in which they are run. */
const blocks = (place: string): ReadonlyArray<string> =>
  [...readFileSync(join(root, "docs/guides/upgrade.md"), "utf8").matchAll(/^```sh in="([^"]+)"\n(.*?)^```$/gms)]
    .filter(([, where]) => where === place).map(([, , code]) => code!)

/** The packed server as an earlier version. */
const earlier = (folder: string, version: string): string => {
  const place = join(folder, "earlier")
  mkdirSync(place)
  tar.extract({ file: tarballOf(inject("packed"), server.name), cwd: place, sync: true })
  const manifest = join(place, "package/package.json")
  writeFileSync(manifest, JSON.stringify({ ...manifestOf(join(place, "package")), version }))
  const file = join(folder, "earlier.tgz")
  tar.create({ file, cwd: place, gzip: true, sync: true }, ["package"])
  return file
}

it("the guide's commands install a version beside the running one, and lead to it and back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "wac-upgrade-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const place = join(folder, "opt")
  mkdirSync(place)
  const registry = await Registry.start()
  onTestFinished(registry.close)
  const postgres = await PostgresServer.start("fsync=off")
  onTestFinished(postgres.remove)

  const variables = {
    PATH: process.env["PATH"]!.split(delimiter).filter((each) => !each.includes("node_modules")).join(delimiter),
    HOME: folder,
    npm_config_registry: registry.url,
    npm_config_cache: join(folder, "cache"),
    npm_config_update_notifier: "false",
    DATABASE_URL: postgres.url,
    WAC_MASTER_KEY: randomBytes(32).toString("base64"),
    WAC_OWNER_EMAIL: "owner@example.com",
    WAC_OWNER_PASSWORD: "a horse in the garden"
  }
  // this Node first, as an operator has one
  const env = { ...variables, PATH: [join(folder, "bin"), variables.PATH].join(delimiter) }
  mkdirSync(join(folder, "bin"))
  writeFileSync(join(folder, "bin/node"), `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 })
  const sh = (command: string) => promisify(execFile)("sh", ["-euc", command], { cwd: place, env })
  const start = () => PackedServer.startBy(join(place, "current/node_modules/.bin/wac"), place, env)
  const [install] = blocks("a folder that has a folder for each version")
  const [back] = blocks("the same folder")

  const version = manifestOf(server.folder).version
  const old = "0.0.1"
  packInstalled(folder, Object.keys(manifestOf(server.folder).dependencies!))
  for (const name of Object.keys(manifestOf(server.folder).dependencies!)) {
    await registry.publish(tarballOf(folder, name))
  }
  await registry.publish(earlier(folder, old))

  await sh(install!)
  assert.strictEqual(readlinkSync(join(place, "current")), old)
  const first = await start()
  onTestFinished(first.kill)
  const isReady = async (url: string) => assert.strictEqual((await fetch(`${url}/readyz`)).status, 200)
  await isReady(first.url)

  await registry.publish(tarballOf(inject("packed"), server.name))
  await sh(install!)
  assert.strictEqual(readlinkSync(join(place, "current")), version)
  assert.isTrue(existsSync(join(place, old)))
  // it still finds its files
  assert.strictEqual((await fetch(`${first.url}/docs`)).status, 200)
  const second = await start()
  onTestFinished(second.kill)
  await isReady(first.url)
  await first.stop()
  const signIn = await fetch(`${second.url}/internal/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
    body: JSON.stringify({ email: variables.WAC_OWNER_EMAIL, password: variables.WAC_OWNER_PASSWORD })
  })
  assert.strictEqual(signIn.status, 200)
  await second.stop()

  await sh(back!.replaceAll(/^OLD=.*$/gm, `OLD=${old}`))
  assert.strictEqual(readlinkSync(join(place, "current")), old)
  const third = await start()
  onTestFinished(third.kill)
  await isReady(third.url)
  await third.stop()
})
