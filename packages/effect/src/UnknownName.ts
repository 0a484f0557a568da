/**
 * A name that this version does not know: any other string, which can be used as a string. To compare it with a newer
 * name, widen it: `const name: string = event.type`.
 *
 * It is an enumeration that exists only in types, because such a type is assignable to `string` but not comparable to
 * any literal. So `event.type === "message.delivered"` narrows to that one event, where a plain `string` would remain
 * possible.
 */
export declare enum UnknownName {
  name = "a name newer than this version"
}
