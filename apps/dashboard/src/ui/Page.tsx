/** The layout of a page: its title (also in the browser's tab), its actions, and its sections. */
import { type ReactNode, useEffect, useRef } from "react"

let isFirst = true

export const Page = (
  { actions, children, lead, title }: {
    readonly title: string
    readonly lead?: ReactNode
    readonly actions?: ReactNode
    readonly children: ReactNode
  }
) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const before = document.title
    document.title = `${title} · wac`
    return () => {
      document.title = before
    }
  }, [title])
  useEffect(() => {
    // keyboard and screen reader users continue from the new page's heading
    if (!isFirst) heading.current?.focus({ preventScroll: true })
    isFirst = false
  }, [])
  return (
    <div className="space-y-6">
      <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <h1 ref={heading} tabIndex={-1} className="text-xl font-semibold tracking-tight break-words">{title}</h1>
          {lead === undefined ? null : <p className="mt-1 max-w-2xl text-muted">{lead}</p>}
        </div>
        {actions === undefined ? null : <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** A section of a page, with a heading. */
export const Section = (
  { actions, children, description, flush = false, title }: {
    readonly title: string
    readonly description?: ReactNode
    readonly actions?: ReactNode
    /** Whether the content reaches the edges of the section, as tables do. */
    readonly flush?: boolean
    readonly children: ReactNode
  }
) => (
  <section className="card" aria-label={title}>
    <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 pt-3.5 pb-2">
      <div className="min-w-0">
        <h2 className="font-semibold">{title}</h2>
        {description === undefined ? null : <p className="max-w-2xl text-muted">{description}</p>}
      </div>
      {actions === undefined ? null : <div className="flex flex-wrap gap-2">{actions}</div>}
    </div>
    <div className={flush ? "pb-1" : "px-4 pt-1 pb-4"}>{children}</div>
  </section>
)

/** A list of names and values, side by side; each is a {@link Fact}. */
export const Facts = ({ children }: { readonly children: ReactNode }) => (
  <dl className="grid grid-cols-1 gap-x-6 gap-y-3 sm:grid-cols-2 lg:grid-cols-3">{children}</dl>
)

/** A name and its value, within {@link Facts}. */
export const Fact = ({ children, name }: { readonly name: string; readonly children: ReactNode }) => (
  <div className="min-w-0">
    <dt className="text-[13px] text-muted">{name}</dt>
    <dd className="break-words">{children}</dd>
  </div>
)
