/** What the page of one thing has if there is no such thing: that, and the way to the others. */
import { Link, type LinkProps } from "@tanstack/react-router"
import { buttonClass } from "./Button.tsx"
import { Empty } from "./Loaded.tsx"

export const Missing = (
  { all, to, what }: {
    /** The name of the thing. */
    readonly what: string
    /** The name of the list. */
    readonly all: string
    readonly to: NonNullable<LinkProps["to"]>
  }
) => <Empty title={`There is no such ${what}`} actions={<Link to={to} className={buttonClass()}>{all}</Link>} />
