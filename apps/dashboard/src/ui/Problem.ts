/** What is wrong with a form before the service is asked; `param` is the name that the service calls the field by. */
export class Problem {
  readonly param: string
  readonly message: string
  constructor(param: string, message: string) {
    this.param = param
    this.message = message
  }
}
