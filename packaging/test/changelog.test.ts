/**
 * What a release writes of itself.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import * as Changelog from "../Changelog.ts"
import { manifestOf, root, server } from "../Published.ts"

const page = readFileSync(join(root, "CHANGELOG.md"), "utf8")

const plan: Changelog.Plan = {
  changesets: [
    { summary: "Sends carry a note.\n\nIt has at most 100 characters.", releases: [{ name: "a", type: "minor" }] },
    { summary: "Times are in UTC.", releases: [{ name: "a", type: "patch" }, { name: "b", type: "patch" }] },
    { summary: "`send` needs a key.", releases: [{ name: "a", type: "patch" }, { name: "b", type: "major" }] },
    { summary: "Nothing to see.", releases: [{ name: "a", type: "none" }] }
  ],
  releases: [
    { name: "a", type: "major", newVersion: "2.0.0" },
    { name: "b", type: "major", newVersion: "2.0.0" },
    { name: "private", type: "none", newVersion: "1.0.0" }
  ]
}

describe("CHANGELOG.md", () => {
  it("a release puts its version before the earlier ones, with its changes by what they require of users", () => {
    const first = Changelog.withVersion("# Changes\n\nAbout it.\n", plan, "2026-12-01")
    assert.strictEqual(
      first,
      `# Changes

About it.

## 2.0.0 (2026-12-01)

### What needs a change of yours

- \`send\` needs a key.

### What is new

- \`a\`: Sends carry a note.

  It has at most 100 characters.

### What is mended

- Times are in UTC.
`
    )
    const second = Changelog.withVersion(first, {
      changesets: [],
      releases: [{ name: "a", type: "patch", newVersion: "2.0.1" }]
    }, "2027-01-01")
    assert.match(second, /^# Changes\n\nAbout it\.\n\n## 2\.0\.1 \(2027-01-01\)\n\n[^#]*## 2\.0\.0 \(2026-12-01\)\n/)
  })

  it("the newest version is that of the packages, once there is a release", () => {
    const [newest = undefined] = /^## \S+/m.exec(page) ?? []
    if (newest !== undefined) assert.strictEqual(newest, `## ${manifestOf(server.folder).version}`)
  })
})
