/** Shows the state of a query: its data, or that it is loading, has failed, or has only old data; and empty lists. */
import type { UseQueryResult } from "@tanstack/react-query"
import { WacError } from "@wac/client/internal"
import type { ReactNode } from "react"
import { isNotFound, isSignedOut } from "../session/Service.ts"
import { Button } from "./Button.tsx"
import { Failure, messageOf } from "./Failure.tsx"
import { rich, t } from "./Language.ts"
import { Notice } from "./Notice.tsx"
import { Time } from "./Time.tsx"

/** Grey lines in the place of content that is loading. */
export const Skeleton = ({ lines = 4 }: { readonly lines?: number }) => (
  <div role="status" className="space-y-3 p-4">
    <span className="sr-only">{t("Loading")}</span>
    {Array.from(
      { length: lines },
      (_, i) => <div key={i} aria-hidden="true" className={`h-4 rounded-sm bg-sunken ${i % 3 === 2 ? "w-1/2" : ""}`} />
    )}
  </div>
)

/** Shows a query's data. It marks data that is old, or that belongs to the previous query. */
export function Loaded<Data>(
  { children, lines, missing, query }: {
    readonly query: UseQueryResult<Data, unknown>
    readonly lines?: number
    /** The content after a 404. */
    readonly missing?: ReactNode
    readonly children: (data: Data) => ReactNode
  }
) {
  const again = <Button small onClick={() => void query.refetch()} icon="refresh">{t("Try again")}</Button>
  if (query.data === undefined) {
    return missing !== undefined && isNotFound(query.error)
      ? missing
      : query.error === null
      ? <Skeleton {...(lines === undefined ? {} : { lines })} />
      : (
        <div className="p-3">
          <Failure error={query.error} actions={again} />
        </div>
      )
  }
  return (
    <>
      {query.error === null || isSignedOut(query.error) ? null : (
        <div className="p-3">
          <Notice tone="warn" role="status" actions={again}>
            {rich("This is from {time}: {why}", {
              time: <Time at={new Date(query.dataUpdatedAt).toISOString()} />,
              why: query.error instanceof WacError && query.error.code !== "no_response"
                ? messageOf(query.error)
                : t("the service does not respond now.")
            })}
          </Notice>
        </div>
      )}
      {query.isPlaceholderData
        ? (
          <div aria-busy="true">
            <p role="status" className="px-4 py-2 text-muted">{t("Loading. What is below is from before.")}</p>
            <div inert className="opacity-40">{children(query.data)}</div>
          </div>
        )
        : children(query.data)}
    </>
  )
}

/** Shows only the state of a query, not its data: that it is loading, has failed, or has old data. */
export const LoadState = (props: {
  readonly query: UseQueryResult<unknown, unknown>
  readonly lines?: number
  readonly missing?: ReactNode
}) => <Loaded {...props}>{() => null}</Loaded>

/** The content where nothing is there yet: what would be there, and how to get it. */
export const Empty = (
  { actions, children, title }: { readonly title: string; readonly children?: ReactNode; readonly actions?: ReactNode }
) => (
  <div className="flex flex-col items-center gap-2 px-6 py-12 text-center">
    <p className="font-medium">{title}</p>
    {children === undefined ? null : <p className="max-w-md text-muted">{children}</p>}
    {actions === undefined ? null : <div className="mt-2">{actions}</div>}
  </div>
)
