import { Overdue } from './errors.ts'

/** What the work comes to; rejects with `Overdue` where that takes longer than `ms`. `what` is for the message. */
export function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Overdue(what, ms)), ms)
    work.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
