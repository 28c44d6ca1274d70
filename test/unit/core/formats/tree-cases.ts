const lines = (...all: string[]): string => all.join('\n')

/**
 * Values as JSON and what `tree@2` writes where prices are lengths: one case for each device and
 * each trap.
 */
export const TREE_CASES: Readonly<Record<string, readonly [json: string, text: string]>> = {
  'a table behind its key': [
    '{"users":[{"id":1,"name":"Ann"},{"id":2,"name":"Bo"},{"id":3,"name":"Cy"}]}',
    lines('users[3]:', 'id,name', '1,Ann', '2,Bo', '3,Cy'),
  ],
  'a constant, a pattern, a group and rows in a cell': [
    '[{"id":"ORD-0001","by":{"id":7,"at":"Rome"},"items":[{"sku":"A","n":1},{"sku":"B","n":2}],"open":true},{"id":"ORD-0002","by":{"id":8,"at":"Oslo"},"items":[],"open":true}]',
    lines(
      '[2]:',
      'id=ORD-*,by{id,at},items[sku,n],open=true',
      '0001,7,Rome,[A,1;B,2]',
      '0002,8,Oslo,[]',
    ),
  ],
  'marks of absent cells, and strings like a mark': [
    JSON.stringify([
      { id: 1, a: '-', b: 'x', c: 'a longer text', d: 'with some words' },
      { id: 2, d: 'this one has no other words' },
      { id: 3, b: null, c: '', d: 'and some more words' },
      { c: 'first cells are marked too', d: '-' },
      { id: 5, a: 'e', b: 'f' },
    ]),
    lines(
      '[5]:',
      'id,a,b,c,d',
      '1,"-",x,a longer text,with some words',
      '2,-,-,-,this one has no other words',
      '3,-,null,"",and some more words',
      '-,-,-,first cells are marked too,"-"',
      '5,e,f',
    ),
  ],
  'strings that a reader may take for literals': [
    '[{"a":"True","b":"none"},{"a":"false","b":"NULL"},{"a":"x","b":"Nulls"}]',
    lines('[3]:', 'a,b', '"True","none"', '"false","NULL"', 'x,Nulls'),
  ],
  'missing, null and empty apart': [
    '[{"a":1,"b":null,"c":"","d":"x"},{"a":2,"d":"null"},{"a":null,"b":"","c":null}]',
    lines('[3]:', 'a,b,c,d', '1,null,"",x', '2,-,-,"null"', 'null,"",null'),
  ],
  'a group that is missing, null or an object': [
    '[{"a":1,"g":{"x":1,"y":2}},{"a":2},{"a":3,"g":null},{"a":4,"g":{"y":5}}]',
    lines('[4]:', 'a,g{x,y}', '1,1,2', '2', '3,null', '4,-,5'),
  ],
  'a group whose object would be read as null': [
    '[{"a":1,"g":{"x":null}},{"a":2,"g":null},{"a":3,"g":{"x":1,"y":2}}]',
    lines('[3]:', 'a,g', '1,{x:null}', '2,null', '3,{x:1,y:2}'),
  ],
  'a group whose object would be read as missing': [
    '[{"a":1,"g":{}},{"a":2},{"a":3,"g":{"x":1,"y":2}}]',
    lines('[3]:', 'a,g', '1,{}', '2', '3,{x:1,y:2}'),
  ],
  'rows in other orders than the first': [
    '[{"a":1,"c":2},{"a":1,"b":2,"c":3},{"b":1,"c":7}]',
    lines('[3]:', 'a,b,c', '1,-,2', '1,2,3', '-,1,7'),
  ],
  'a row that contradicts the others': [
    '[{"id":1,"name":"Ann"},{"id":2,"name":"Bo"},{"name":"Cy","id":3},{"id":4,"name":"Di"}]',
    lines('[4]:', 'id,name', '1,Ann', '2,Bo', '{name: Cy,id:3}', '4,Di'),
  ],
  'a row that would be taken for one in braces': [
    '[{"a":[1],"b":1},{"a":{"x":1}},{"a":"{}","b":2}]',
    lines('[3]:', 'a,b', '[1],1', '{a:{x:1}}', '"{}",2'),
  ],
  'a keyed table': [
    '{"flag_a":{"on":true,"by":"Ann"},"flag_b":{"on":false,"by":"Bo"},"flag_c":{"on":true,"by":"Cy"}}',
    lines('{3}:', 'key=flag_*,on,by', 'a,true,Ann', 'b,false,Bo', 'c,true,Cy'),
  ],
  'members that begin alike': [
    '{"id":1,"a":"https://x.example/u/ann/a","b":"https://x.example/u/ann/b","c":"https://x.example/u/ann/c","d":"https://x.example/u/ann/","e":2}',
    // What is left of `d` would read as an empty string.
    lines(
      'id:1',
      '=https://x.example/u/ann/*',
      ' a: a',
      ' b: b',
      ' c: c',
      'd: https://x.example/u/ann/',
      'e:2',
    ),
  ],
  'a path, and keys that are none': [
    '{"a":{"b":{"c":{"d":1,"e":"some longer text"}}},"x.y":1,"p=q":2,"":3}',
    lines('a.b.c:{d:1,e: some longer text}', '"x.y":1', '"p=q":2', '"":3'),
  ],
  'strings that look like other things': [
    '{"a":"1","b":"true","c":"[x]","d":"{","e":"- x","f":"```","g":" x","h":"01","i":"a: b, c","j":"=*"}',
    lines(
      'a:"1"',
      'b:"true"',
      'c:"[x]"',
      'd:"{"',
      'e:"- x"',
      'f:"```"',
      'g:" x"',
      'h:01',
      'i: a: b, c',
      'j:=*',
    ),
  ],
  'keys that need quotes': [
    '{"":1,"a:b":2,"a: b":3,"\\"":4," c":5,"a\\nb":6,"a b":7,"-":8,"1":9,"\ufeffk":0}',
    lines(
      ...['"":1', '"a:b":2', '"a: b":3', '"\\"":4', '" c":5', '"a\\nb":6'],
      ...['a b:7', '-:8', '1:9', '"\\ufeffk":0'],
    ),
  ],
  'duplicate and prototype keys': [
    '{"a":1,"__proto__":2,"a":3,"constructor":4}',
    lines('a:1', '__proto__:2', 'a:3', 'constructor:4'),
  ],
  'cells with signs': [
    '[{"a":"x,y","b":"1;2","c":"say \\"hi\\"","d":"p|q"},{"a":"x","b":"[","c":"1\\n2","d":"7"},{"a":"\\t","b":"*","c":"=","d":"\\ud800"}]',
    lines('[3]:', 'a,b,c,d', '"x,y",1;2,say "hi",p|q', 'x,"[","1\\n2","7"', '"\\t",*,=,"\\ud800"'),
  ],
  'cells with a comma, of which a group has some in its suffix': [
    '[{"id":1,"by":{"name":"Ann Lee","of":"x,y|z"},"note":"so,\\t| \\"it\\" is"},{"id":2,"by":{"name":"Bo, A. Li","of":"y,y|z"},"note":"7"},{"id":3,"note":"not now"},{"id":4,"by":{"name":"Cy\\tFox","of":"z,y|z"}}]',
    lines(
      '[4]:',
      'id,by{name,of=*",y|z"},note',
      '1,Ann Lee,x,"so,\\t| \\"it\\" is"',
      '2,"Bo, A. Li",y,"7"',
      '3,-,-,not now',
      '4,Cy\tFox,z',
    ),
  ],
  'absent cells of rows in a cell and of shapes': [
    '{"list":[{"id":1,"in":[{"a":"-","b":2},{"b":3}]},{"id":2,"in":[{"a":"x","b":4}]}],"one":{"x":{"first":"-","second":"-x","third":"z"}},"two":{"y":{"first":"a","second":"b","third":"c"}},"three":{"second":"q","third":"-"}}',
    lines(
      'A{first,second,third}',
      'list[2]:',
      'id,in[a,b]',
      '1,["-",2;-,3]',
      '2,[x,4]',
      'one.x:A("-",-x,z)',
      'two.y:A(a,b,c)',
      'three:A(-,q,"-")',
    ),
  ],
  'a constant like a mark': [
    '[{"a":"-","n":1},{"a":"-","n":2},{"a":"-","n":3}]',
    lines('[3]:', 'a="-",n', '1', '2', '3'),
  ],
  'names and constants with signs': [
    '[{"a,b":"x*","c{":"p,q","=":"1","n":1},{"a,b":"x*","c{":"p,q","=":"1","n":2}]',
    lines('[2]:', '"a,b"="x*","c{"="p,q","="="1",n', '1', '2'),
  ],
  'rows that are all the same': [
    '[{"a":1,"b":2},{"a":1,"b":2},{"a":1,"b":2}]',
    lines('[3]:', 'a,b=2', '1', '1', '1'),
  ],
  'characters that no channel keeps': [
    '{"a":"x\ufeffy","b":"\\u0000","c":"\\ud800","d":"1\\r\\n2","e":"\u00e9","f":"a\\tb"}',
    lines('a:"x\\ufeffy"', 'b:"\\u0000"', 'c:"\\ud800"', 'd:"1\\r\\n2"', 'e:\u00e9', 'f: a\tb'),
  ],
  'numbers in their own spelling': [
    '[{"a":1.0,"b":-0},{"a":1e400,"b":12345678901234567890}]',
    lines('[2]:', 'a,b', '1.0,-0', '1e400,12345678901234567890'),
  ],
  'a list of different things': [
    '["a long sentence: with a colon, and commas","another, with a quote \\"",{"deep":[["an item that is longer"],["and another, with a comma"]]},{"a":{"b":"c"},"d":"e"}]',
    lines(
      '- "a long sentence: with a colon, and commas"',
      '- another, with a quote "',
      '- deep:[[an item that is longer],["and another, with a comma"]]',
      '- a.b: c',
      ' d: e',
    ),
  ],
  'strings that are JSON': [
    '{"type":"text","text":"{\\"users\\":[{\\"id\\":1,\\"n\\":\\"Ann\\"},{\\"id\\":2,\\"n\\":\\"Bo\\"}]}","b":"[1,  2, \\"no spacing of any program\\"]","c(d)":"{\\"a\\": [1, {\\"b\\": null}]}"}',
    lines(
      'type: text',
      'text(compact json).users[2]:',
      'id,n',
      '1,Ann',
      '2,Bo',
      'b:"[1,  2, \\"no spacing of any program\\"]"',
      '"c(d)":"{\\"a\\": [1, {\\"b\\": null}]}"',
    ),
  ],
  'shapes declared once, beside other members': [
    '{"card":{"on":true,"preference":"off"},"live":false,"cash":{"on":false,"preference":"off"},"bank":{"on":true,"preference":"on"},"name":"Default","ideal":{"on":false,"preference":"on"}}',
    lines(
      'A{on,preference}',
      '{card:A(true,off),live:false,cash:A(false,off),bank:A(true,on),name: Default,ideal:A(false,on)}',
    ),
  ],
  'shapes in the cells of a table': [
    '{"rows":[{"id":1,"by":{"first":"Ann","last":"Lee"}},{"id":2,"by":"robot, new"},{"id":3,"by":{"first":"Bo","last":"Ray"}},{"id":4,"by":"robot"},{"id":5,"by":"robot"},{"id":6,"by":"robot"},{"id":7,"by":"robot"},{"id":8,"by":"robot"}],"owner":{"first":"Cy","last":"Fox"},"x":1,"other":{"first":"Di","last":"Orr"}}',
    lines(
      'A{first,last}',
      'rows[8]:',
      'id,by',
      '1,A(Ann,Lee)',
      '2,"robot, new"',
      '3,A(Bo,Ray)',
      ...[4, 5, 6, 7, 8].map(id => `${id},robot`),
      'owner:A(Cy,Fox)',
      'x:1',
      'other:A(Di,Orr)',
    ),
  ],
  'a shape in another one, though it is the same each time': [
    '{"base":{"ref":"main","user":{"login":"ann","site":"x.org"}},"head":{"ref":"topic","user":{"login":"ann","site":"x.org"}},"n":1,"author":{"login":"bo","site":"y.org"},"by":{"login":"cy","site":"z.org"}}',
    lines(
      'A{login,site=*.org}',
      'B{ref,user}',
      '{base:B(main,A(ann,x)),head:B(topic,A(ann,x)),n:1,author:A(bo,y),by:A(cy,z)}',
    ),
  ],
  'no shape that its objects do not pay for': [
    '{"p":{"a":1,"b":2},"one":{"latitude":1,"longitude":2},"n":0,"two":{"latitude":3,"longitude":5},"q":{"a":3,"b":4}}',
    lines('A{latitude,longitude}', '{p:{a:1,b:2},one:A(1,2),n:0,two:A(3,5),q:{a:3,b:4}}'),
  ],
  'names of shapes that no key or string looks like': [
    '{"a":{"from":{"street":"High St","city":"Rome"},"n":1},"b":[{"street":"Low St","city":"Oslo"}],"c":{"to":{"street":"Old St"},"x":[{"street":"New St","city":"Bern"}]},"A":"B(x"}',
    lines(
      'C{street=* St,city}',
      'a:{from:C(High,Rome),n:1}',
      'b:',
      '- C(Low,Oslo)',
      'c:',
      ' to.street: Old St',
      ' x:[C(New,Bern)]',
      'A: B(x',
    ),
  ],
  'lines between fences': [
    '{"code":"if (x === \\"a\\") {\\n  log(\\"b\\")\\n  log(\\"c\\")\\n}\\n```\\n"}',
    lines('code:````', 'if (x === "a") {', '  log("b")', '  log("c")', '}', '```', '', '````'),
  ],
}

/** Texts that `tree@2` refuses, with the line that it names. */
export const NO_TREES: readonly (readonly [text: string, line: number])[] = [
  ['', 1],
  ['a', 1],
  // As tree@1 wrote heads and lists.
  ['[1#]:\na\n1', 1],
  ['[1-]:\na\n1', 1],
  ['[1 ]:\na\n1', 1],
  ['a[1|]:\nb\n1', 1],
  ['{1 }:\nkey a\nb 1', 1],
  ['a[2 ]: x y', 1],
  ['a[2]: x,y', 1],
  ['a[2]=x*: 1,2', 1],
  ['[1]:\nx,,y\n1', 2],
  ['a:1\nb', 2],
  [':1', 1],
  ['"a:1', 1],
  ['"a" :1', 1],
  ['a:1\n\nb:2', 2],
  ['a:1\nb:[1,', 2],
  ['a:\n b:1\n  c:2', 3],
  ['a:\nb:1', 2],
  ['a:', 1],
  [' a:1', 1],
  ['a:"x', 1],
  ['a:"\\q"', 1],
  ['a:"x" y', 1],
  ['a:[1,2', 1],
  ['a:[1 ,]', 1],
  ['a:{b}', 1],
  ['a:```\nx', 1],
  ['a[2]:\nx\n1', 3],
  ['a[1]:\nx\n1\n2', 4],
  ['a[1]:\nx,x\n1,2', 2],
  ['a[1]:\nx,\n1,2', 2],
  ['a[1]:\nx,y\n1,2,3', 3],
  ['a[1]:\nx[y\n1', 2],
  ['a[1]:\nx{y\n1', 2],
  ['a[1]:\nx=\n1', 2],
  ['a[1]:\nx[y]\n[1', 3],
  ['a[1]:\nx[y]\n[1,2]', 3],
  ['a{1}:\nkey,x\n,1', 3],
  ['a{1}:\nkey\n1', 2],
  ['a{1}:\nkey{x},y\n1,2', 2],
  ['a[1]\nx\n1', 1],
  ['=x', 1],
  ['=x*', 1],
  ['=x*\na:1', 2],
  ['=x*\n a:', 2],
  ['- ', 1],
  ['- a\nb:1', 2],
  ['.:1', 1],
  ['A{a}', 1],
  ['A{a,b\nx:1', 1],
  ['A{a}\n', 2],
  ['A{a,a}\nx:1', 1],
  ['A{a}\nA{b}\nx:A(1)', 2],
  ['A{a,b}\nx:A(1', 2],
  ['A{a,b}\nx:A(1,2,3)', 2],
  ['A{a,b}\nx:A(1)y', 2],
  ['A{a,b}\nx:A("q', 2],
  ['A{a,b}\n- A(1)x', 2],
  ['A{a,b}\n[A(1]', 2],
  ['A{a,b}\n[1]:\nx\nA(1', 4],
  ['ABCD{a}\nx:1', 1],
  ['a(x json):[1]', 1],
  ['a(compact):[1]', 1],
  ['a(compact json)(compact json):[1]', 1],
]
