import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * Connects two network namespaces at one place and no other: a socket in the file system is seen from both.
 * `relay.ts PORT SOCKET` listens on the loopback of its namespace and hands every connection to the socket.
 */
export async function relay(listen: number | string, target: number | string): Promise<Server> {
  const server = createServer((near) => {
    const far = typeof target === 'number' ? connect(target, '127.0.0.1') : connect(target)
    join(near, far)
    join(far, near)
    near.pipe(far).pipe(near)
  })
  if (typeof listen === 'number') server.listen(listen, '127.0.0.1')
  else server.listen(listen)
  await once(server, 'listening')
  return server
}

function join(one: Socket, other: Socket): void {
  one.on('error', () => other.destroy()).on('close', () => other.destroy())
}

if (process.argv[1] === import.meta.filename) {
  const [port, socket = ''] = process.argv.slice(2)
  await relay(Number(port), socket)
  console.log('relaying')
}
