struct t { bit<8> x; }
extern Box<T> { Box(); Box(bit<8> n); T get<U>(in U u); }
extern T first<T>(in T x);
const bit<8> a = 1;
const bit<8> b = 2;
const bool A = a < b;
const bool B = a < b > (c);
const bit<8> C = first<t>(x).x;
const bit<8> D = first<undeclared>(x);
control angles(Box<Box<bit<8>>> b) {
    apply {
        x = b.get<bit<8>>(1);
        x = b.get<t>({1});
        y = a.b < (c);
        y = h.n < t.m && z > (w);
        x = b.get<>(2);
    }
}
