/** Where what a list does not have can be found: the messages of a customer, or those with a reference. */
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { portal } from "../session/Document.ts"
import { customerOf, soughtMessages } from "../ui/Sought.ts"

export const Elsewhere = ({ children, text }: { readonly text: string; readonly children: ReactNode }) => (
  <>
    {children}
    {portal !== undefined
      ? null
      : (
        <>
          {" "}
          <Link to="/messages" search={soughtMessages(text)} className="text-accent underline">
            {customerOf(text) === undefined ? `Messages with the reference ${text}` : `Messages to ${customerOf(text)}`}
          </Link>
        </>
      )}
  </>
)
