/**
 * What axe finds on a page of a browser.
 */
import axe from "axe-core"
import type { Page } from "playwright-core"

/** What its script puts into a page. */
type Axe = typeof axe

/** What axe has to say; colours alone, where the rest was looked at already. */
export const violations = async (
  page: Pick<Page, "evaluate">,
  ...only: ReadonlyArray<string>
): Promise<ReadonlyArray<string>> => {
  // by the debugger, whose scripts the page's policy does not concern
  if (!await page.evaluate(() => "axe" in window)) await page.evaluate(axe.source)
  return page.evaluate(async (only) => {
    const { violations } = await (window as unknown as { readonly axe: Axe }).axe.run(
      document,
      { resultTypes: ["violations"], ...(only.length === 0 ? {} : { runOnly: [...only] }) }
    )
    return violations.flatMap(({ help, id, nodes }) =>
      nodes.map(({ failureSummary, html }) => `${id}: ${help}\n${html}\n${failureSummary}`)
    )
  }, only)
}
