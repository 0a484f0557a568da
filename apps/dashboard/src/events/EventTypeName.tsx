/** Shows an event type such as `message.sent`, and lets the line break after the dot. */
export const EventTypeName = ({ type }: { readonly type: string }) => {
  const [subject, ...rest] = type.split(".")
  return (
    <>
      {subject}.<wbr />
      {rest.join(".")}
    </>
  )
}
