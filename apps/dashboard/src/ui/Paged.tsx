/** Pages of a list, whose cursors are in the address: a page can be linked to, and Back leads to the one before. */
import { Link } from "@tanstack/react-router"
import { buttonClass } from "./Button.tsx"
import { Empty } from "./Loaded.tsx"

/** What a filter shows that found nothing: perhaps on this page alone. */
export const NothingFound = (
  { cursor, next, what }: {
    /** What there is none of, in the singular. */
    readonly what: string
    readonly cursor: string | undefined
    readonly next: string | null
  }
) => (
  <>
    <Empty title={`No ${what} fits these filters`}>
      {next === null ? undefined : "So far: the newest were looked at. The next page goes on with the older ones."}
    </Empty>
    <Paging cursor={cursor} next={next} />
  </>
)

/** Items of one page. */
export const pageSize = 50

export const Paging = (
  { cursor, next }: { readonly cursor: string | undefined; readonly next: string | null }
) =>
  cursor === undefined && next === null ?
    null :
    (
      <nav aria-label="Pages of the list" className="flex justify-end gap-2 border-t border-line px-4 py-3">
        {cursor === undefined ?
          null :
          (
            <Link
              to="."
              search={({ cursor: _, ...search }: Record<string, unknown>) => search as never}
              className={buttonClass("secondary", true)}
            >
              First page
            </Link>
          )}
        {next === null ?
          null :
          (
            <Link
              to="."
              search={((search: Record<string, unknown>) => ({ ...search, cursor: next })) as never}
              className={buttonClass("secondary", true)}
            >
              Next page
            </Link>
          )}
      </nav>
    )
