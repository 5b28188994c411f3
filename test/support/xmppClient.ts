import { WebSocket } from 'undici';

const FRAMING = 'urn:ietf:params:xml:ns:xmpp-framing';

/** Somebody in a group chat: enough of an XMPP client over WebSocket (RFC 7395) to enter rooms and to speak there. */
export class XmppClient {
  readonly #frames: string[] = [];
  #wake: () => void = () => undefined;

  private constructor(private readonly socket: WebSocket) {
    socket.addEventListener('message', ({ data }) => {
      this.#frames.push(String(data));
      this.#wake();
    });
    socket.addEventListener('close', () => {
      this.#frames.push('closed');
      this.#wake();
    });
  }

  /** @param url where ejabberd takes WebSockets */
  static async connect(url: string, user: string, host: string, password: string): Promise<XmppClient> {
    const socket = new WebSocket(url, { protocols: ['xmpp'] });
    const client = new XmppClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => {
        resolve();
      });
      socket.addEventListener('error', () => {
        reject(new Error('There is no WebSocket.'));
      });
    });
    const open = `<open xmlns="${FRAMING}" to="${host}" version="1.0"/>`;
    await client.#ask(open, '<stream:features');
    const plain = Buffer.from(`\0${user}\0${password}`).toString('base64');
    const sasl = 'xmlns="urn:ietf:params:xml:ns:xmpp-sasl" mechanism="PLAIN"';
    await client.#ask(`<auth ${sasl}>${plain}</auth>`, '<success');
    await client.#ask(open, '<stream:features');
    const bind = '<bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/>';
    await client.#ask(`<iq xmlns="jabber:client" type="set" id="bind">${bind}</iq>`, '<jid>');
    return client;
  }

  /** @param room its full address */
  async enter(room: string, nick: string): Promise<void> {
    const muc = '<x xmlns="http://jabber.org/protocol/muc"/>';
    // 110 says that a presence is one's own.
    await this.#ask(`<presence xmlns="jabber:client" to="${room}/${nick}">${muc}</presence>`, '110');
  }

  /** @param text without what XML would have to escape */
  async say(room: string, text: string): Promise<void> {
    const message = `<message xmlns="jabber:client" to="${room}" type="groupchat"><body>${text}</body></message>`;
    await this.#ask(message, `<body>${text}</body>`);
  }

  close(): void {
    this.socket.close();
  }

  async #ask(stanza: string, expected: string): Promise<void> {
    this.socket.send(stanza);
    for (;;) {
      const frame = this.#frames.shift();
      if (frame === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
      else if (frame.includes(expected)) return;
      else if (/^(?:closed|<close|<failure)|type='error'/.test(frame)) {
        throw new Error(`The XMPP server did not answer ${expected}.`);
      }
    }
  }
}
