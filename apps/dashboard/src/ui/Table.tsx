/** Tables, and their columns as a page and a CSV file show them. On a narrow screen, a table scrolls sideways. */
import type { ReactNode } from "react"
import { t } from "./Language.ts"

/** A column: its heading, and its cell for each item. */
export interface Column<Item> {
  readonly name: string
  /** Whether only screen readers get the heading. */
  readonly isUnseen?: boolean
  /** The least screen width at which the column is shown; if omitted, it is always shown. */
  readonly from?: "sm" | "md" | "lg"
  /** The CSS classes of the cells. */
  readonly className?: string
  readonly cell: (item: Item) => ReactNode
}

/** The content of a cell in a file; times are in ISO 8601, UTC. */
type TextOf<Item> = (item: Item) => string | number | null

/** A column of a list that can be saved as a file. */
export type ListColumn<Item> =
  | Column<Item> & {
    /** `null` if the file does not have the column, because it holds only buttons and the like. */
    readonly text: TextOf<Item> | null
  }
  | FileColumn<Item>

/** A column that only the file has. */
interface FileColumn<Item> {
  readonly name: string
  readonly text: TextOf<Item>
  readonly cell: null
}

/** A column with an item's id that only the file has, for lists that do not show the id. */
export const idInFile: FileColumn<{ readonly id: string }> = { name: "Id", text: ({ id }) => id, cell: null }

const shownFrom = { sm: "hidden sm:table-cell", md: "hidden md:table-cell", lg: "hidden lg:table-cell" }

const classOf = ({ from }: Pick<Column<never>, "from">): string => from === undefined ? "" : shownFrom[from]

/** A table with a row for each item. */
export const Table = <Item extends object>(
  { columns, items, keyOf = (item) => String("id" in item ? item.id : undefined), label }: {
    readonly label: string
    readonly columns: ReadonlyArray<Column<Item>>
    readonly items: ReadonlyArray<Item>
    /** The React key of an item; by default its `id`. */
    readonly keyOf?: ((item: Item) => string | number) | undefined
  }
) => (
  <div className="relative overflow-x-auto" tabIndex={0} role="group" aria-label={label}>
    <table className="w-full border-collapse text-left">
      <thead>
        <tr className="border-b border-line">
          {columns.map((column) => (
            <th
              key={column.name}
              scope="col"
              className={`px-2.5 py-2 first:pl-4 last:pr-4 sm:px-4 text-[13px] font-medium text-muted whitespace-nowrap ${
                classOf(column)
              }`}
            >
              {column.isUnseen === true ? <span className="sr-only">{column.name}</span> : column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="divide-y divide-line">
        {items.map((item) => (
          <tr key={keyOf(item)} className="relative hover:bg-sunken">
            {columns.map((column) => (
              <td
                key={column.name}
                className={`px-2.5 py-2.5 align-middle first:pl-4 last:pr-4 sm:px-4 ${classOf(column)} ${
                  column.className ?? ""
                }`}
              >
                {column.cell(item)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** The last column of a table, with the actions for an item. */
export function actions<Item>(cell: (item: Item) => ReactNode): Column<Item> & { readonly text: null } {
  return { name: t("Actions"), isUnseen: true, className: "text-right", text: null, cell }
}

/** The CSS classes of a link that the whole row follows when it is clicked. */
export const rowLink = "font-medium text-ink hover:underline after:absolute after:inset-0"

/** An identifier, or another word of code. */
export const Id = ({ children }: { readonly children: string }) => (
  <code className="font-mono text-[13px] break-all">{children}</code>
)
