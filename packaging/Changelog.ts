/**
 * `CHANGELOG.md`: what each version changes for its users, from the changesets that it contains. All packages have the
 * same version, so there is one page.
 */

/** How far a change reaches, as its changeset says. */
export type Kind = "major" | "minor" | "patch"

/** What the changesets add up to: the part of `changeset status --output` that is needed here. */
export interface Plan {
  readonly changesets: ReadonlyArray<{
    readonly summary: string
    readonly releases: ReadonlyArray<{ readonly name: string; readonly type: Kind | "none" }>
  }>
  readonly releases: ReadonlyArray<{
    readonly name: string
    readonly type: Kind | "none"
    readonly newVersion: string
  }>
}

const headings: ReadonlyArray<readonly [Kind, string]> = [
  ["major", "What needs a change of yours"],
  ["minor", "What is new"],
  ["patch", "What is mended"]
]

/** Those that a plan or a changeset gives another version; private packages are in plans too. */
const changed = <Release extends { readonly type: Kind | "none" }>(
  { releases }: { readonly releases: ReadonlyArray<Release> }
): ReadonlyArray<Release> => releases.filter(({ type }) => type !== "none")

/** The version that the changesets lead to; `undefined` if there are none. */
export const versionOf = (plan: Plan): string | undefined => changed(plan)[0]?.newVersion

/** A change as one list item, with the packages that it is about unless it is about all of them. */
const itemOf = (plan: Plan, changeset: Plan["changesets"][number]): string => {
  const names = changed(changeset).map(({ name }) => `\`${name}\``)
  const prefix = names.length < changed(plan).length ? `${names.join(", ")}: ` : ""
  const { summary } = changeset
  return `- ${prefix}${summary.trim().replaceAll(/\n(?=.)/g, "\n  ")}`
}

/** The notes of the version that the changesets lead to, without its heading. */
export const notesOf = (plan: Plan): string =>
  headings.flatMap(([kind, heading]) => {
    const of = plan.changesets.filter(({ releases }) =>
      kind === headings.find(([kind]) => releases.some(({ type }) => type === kind))?.[0]
    )
    return of.length === 0 ? [] : [`### ${heading}`, of.map((changeset) => itemOf(plan, changeset)).join("\n")]
  }).join("\n\n")

/** The page with the version that the changesets lead to in front of the earlier ones; the day is as in ISO 8601. */
export const withVersion = (page: string, plan: Plan, day: string): string => {
  const section = `## ${versionOf(plan)} (${day})\n\n${notesOf(plan)}\n`
  const earlier = page.search(/^## /m)
  return earlier === -1
    ? `${page.trimEnd()}\n\n${section}`
    : `${page.slice(0, earlier)}${section}\n${page.slice(earlier)}`
}
