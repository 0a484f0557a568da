/** The frame of a page about one campaign, for people whose role may read campaigns. */
import type { ReactNode } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { useRefusal } from "../session/Session.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Page } from "../ui/Page.tsx"

/** Shows `children`, or a page that says which role is needed. */
export const ForReaders = ({ children, title }: { readonly title: string; readonly children: ReactNode }) => {
  const refusal = useRefusal(RoleOf.campaignsGet)
  return refusal === undefined ? children : (
    <Page title={title}>
      <Notice>{refusal}</Notice>
    </Page>
  )
}
