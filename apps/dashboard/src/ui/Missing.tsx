/** The content of an item's page if the item does not exist, with a link to the list. */
import { Link, type LinkProps } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { buttonClass } from "./Button.tsx"
import { t } from "./Language.ts"
import { Empty } from "./Loaded.tsx"

export const Missing = (
  { all, children, to, what }: {
    /** The kind of the item, such as `message`. */
    readonly what: string
    /** The text of the link to the list. */
    readonly all: string
    readonly to: NonNullable<LinkProps["to"]>
    /** Why the item may not exist. */
    readonly children?: ReactNode
  }
) => (
  <Empty title={t("There is no such {what}", { what })} actions={<Link to={to} className={buttonClass()}>{all}</Link>}>
    {children}
  </Empty>
)
