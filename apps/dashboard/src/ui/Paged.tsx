/** Pages of a list, whose cursors are in the address: a page can be linked to, and Back leads to the one before. */
import { Link } from "@tanstack/react-router"
import { buttonClass } from "./Button.tsx"

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
