/** Tables that stay readable: they scroll by themselves where the screen is narrow. */
import type { ReactNode } from "react"

interface Column {
  readonly name?: string
  /** Its name where it has none that is seen. */
  readonly hidden?: string
  readonly className?: string
}

export const Table = (
  { children, columns, label }: {
    readonly label: string
    readonly columns: ReadonlyArray<string | Column>
    readonly children: ReactNode
  }
) => (
  <div className="relative overflow-x-auto" tabIndex={0} role="group" aria-label={label}>
    <table className="w-full border-collapse text-left">
      <thead>
        <tr className="border-b border-line">
          {columns.map((column) => {
            const { className = "", hidden, name = "" } = typeof column === "string" ? { name: column } : column
            return (
              <th
                key={hidden ?? name}
                scope="col"
                className={`px-2.5 py-2 first:pl-4 last:pr-4 sm:px-4 text-[13px] font-medium text-muted whitespace-nowrap ${className}`}
              >
                {name === "" ? <span className="sr-only">{hidden ?? "Actions"}</span> : name}
              </th>
            )
          })}
        </tr>
      </thead>
      <tbody className="divide-y divide-line">{children}</tbody>
    </table>
  </div>
)

export const Row = ({ children }: { readonly children: ReactNode }) => (
  <tr className="relative hover:bg-sunken">{children}</tr>
)

export const Cell = ({ children, className = "" }: { readonly children: ReactNode; readonly className?: string }) => (
  <td className={`px-2.5 py-2.5 align-middle first:pl-4 last:pr-4 sm:px-4 ${className}`}>{children}</td>
)

/** A link in a cell that the whole row leads to. */
export const rowLink = "font-medium text-ink hover:underline after:absolute after:inset-0"

/** An identifier or another word of programs'. */
export const Id = ({ children }: { readonly children: string }) => (
  <code className="font-mono text-[13px] break-all">{children}</code>
)
