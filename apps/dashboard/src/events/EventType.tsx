/** A type of event, which may be broken after its dot. */
export const EventType = ({ type }: { readonly type: string }) => {
  const [thing, ...rest] = type.split(".")
  return (
    <>
      {thing}.<wbr />
      {rest.join(".")}
    </>
  )
}
