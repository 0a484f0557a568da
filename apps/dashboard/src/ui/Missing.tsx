/** What the page of one thing has if there is no such thing: that, and the way to the others. */
import { Link, type LinkProps } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { buttonClass } from "./Button.tsx"
import { t } from "./Language.ts"
import { Empty } from "./Loaded.tsx"

export const Missing = (
  { all, children, to, what }: {
    /** The name of the thing. */
    readonly what: string
    /** The name of the list. */
    readonly all: string
    readonly to: NonNullable<LinkProps["to"]>
    /** Why it may not be there. */
    readonly children?: ReactNode
  }
) => (
  <Empty title={t("There is no such {what}", { what })} actions={<Link to={to} className={buttonClass()}>{all}</Link>}>
    {children}
  </Empty>
)
