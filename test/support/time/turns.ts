/**
 * The longest turn of this thread's event loop during `work`, in ms of CPU time. All other work has waited for this
 * turn. CPU time does not depend on other load of the machine.
 */
export async function longestTurn<T>(work: () => Promise<T>): Promise<{ readonly ms: number; readonly value: T }> {
  let longest = 0
  let running = true
  const used = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let before = used()
  const turn = () => {
    const now = used()
    longest = Math.max(longest, now - before)
    before = now
    if (running) setImmediate(turn)
  }
  setImmediate(turn)
  try {
    const value = await work()
    turn()
    return { ms: longest, value }
  } finally {
    running = false
  }
}
