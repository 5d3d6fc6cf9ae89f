/** A port with some methods replaced. */
export function faulty<T extends object>(port: T, faults: Partial<T>): T {
  const get = (_: T, key: string | symbol) => {
    const found = Reflect.get(Object.hasOwn(faults, key) ? faults : port, key) as unknown
    return typeof found === 'function' ? found.bind(port) : found
  }
  return new Proxy(port, { get })
}
